import DeviceTrust
import NIOCore
import NIOPosix
import NIOSSL
import ShipLinks
import StoreFiles
import Synchronization
import SystemPackage

/// Judges the certificate that the other side shows in one handshake: by its SHA-256 and nothing else. BoringSSL has
/// seen to it that the other side has the key. Names and dates do not count: whoever has a wrong clock is no stranger.
final class PeerVerification: Sendable {
    enum Verdict: Hashable {
        /// No certificate has been shown.
        case none
        case underWay
        case admitted(AdmittedPeer)
        case stranger(DeviceIdentifier)
    }

    private let admission: LinkSecurity.Admission
    private let state = Mutex(Verdict.none)

    init(_ admission: @escaping LinkSecurity.Admission) { self.admission = admission }

    var verdict: Verdict { state.withLock { $0 } }

    /// To be given to NIOSSL as its callback, in place of every other verification.
    func judge(_ certificates: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>) {
        guard let certificate = try? certificates.first?.toDERBytes() else { return promise.succeed(.failed) }
        let id = DeviceIdentifier(ofCertificate: certificate)
        state.withLock { $0 = .underWay }
        LinkThreads.blocking.submit { [self] state in
            let admittance = state == .active ? (try? admission(id)) ?? .refused : .refused
            let verdict = AdmittedPeer(device: id, admittance).map(Verdict.admitted) ?? .stranger(id)
            self.state.withLock { $0 = verdict }
            promise.succeed(admittance == .refused ? .failed : .certificateVerified)
        }
    }
}

/// A device that has got in, and how far.
struct AdmittedPeer: Hashable, Sendable {
    let device: DeviceIdentifier
    let admittance: LinkSecurity.Admittance

    /// - Returns: `nil` if it has not.
    init?(device: DeviceIdentifier, _ admittance: LinkSecurity.Admittance) {
        guard admittance != .refused else { return nil }
        (self.device, self.admittance) = (device, admittance)
    }
}

/// Which user is at the other end of a Unix socket: the kernel knows, and nobody can lie about it.
enum SocketPeer {
    /// - Throws: `.otherUser` unless it is a process of this user's, or of root's, from whom nothing is safe anyway.
    static func checkIsOurs(_ channel: any Channel) async throws(LinkError) {
        try await AwaitedAnswer.wait { answer in
            flaw(of: channel).whenComplete { result in
                switch result {
                case .success(nil): answer.give(.success(()))
                case .success(let flaw?): answer.give(.failure(flaw))
                case .failure(let error): answer.give(.failure(LinkError(onOpenLink: error)))
                }
            }
        }
    }

    /// - Returns: `nil` if nothing is wrong.
    static func flaw(of channel: any Channel) -> EventLoopFuture<LinkError?> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(.io(.notSupported))
        }
        let credentials: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: NIOBSDSocket.OptionLevel(rawValue: PeerCredentials.level),
            name: NIOBSDSocket.Option(rawValue: PeerCredentials.option))
        return credentials.map { credentials in
            let isOurs = credentials.user == PlatformCalls.effectiveUser || credentials.user == 0
            return isOurs ? nil : .otherUser(credentials.user)
        }
    }
}
