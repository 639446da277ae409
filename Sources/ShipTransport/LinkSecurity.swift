import Crypto
package import DeviceTrust
import NIOCore
import NIOPosix
import NIOSSL
package import ShipLinks
import Synchronization
import SystemPackage

/// Who may be at the other end of a TCP link.
package enum LinkSecurity: Sendable {
    /// Any process on this machine, without proof of who it is: plain bytes, to and from this machine only.
    case plainOnLoopback
    /// Admitted devices, anywhere: TLS 1.3, in which each side shows its certificate and proves that it has the key.
    case mutualTLS(DeviceIdentity, admitting: Admission)

    var isPlain: Bool { if case .plainOnLoopback = self { true } else { false } }

    /// The rights of a device that has shown its certificate.
    package enum Admittance: Hashable, Sendable {
        /// Nothing: its handshake fails.
        case refused
        /// It gets a link on which it can only pair. A listener counts it among those that are still in their handshake.
        case toPair
        case full
    }

    /// Decides what the device at the other end may do. Called anew for each link, on a thread that may wait for a disk; on an error the
    /// link is closed, and the other side not told that it is not trusted.
    package typealias Admission = @Sendable (DeviceIdentifier) throws -> Admittance

    /// Decides the security of a listener's connection from this endpoint. Called anew for each, on a thread that may wait for a
    /// disk; on an error the listener closes the connection.
    package typealias Choice = @Sendable (Endpoint) throws -> LinkSecurity
}

/// Verifies the certificate that the other side shows in one handshake, by its SHA-256 alone. BoringSSL has verified that the other
/// side has the key. Names and dates do not count, so that a device with a wrong clock can connect.
final class PeerVerification: Sendable {
    private let admission: LinkSecurity.Admission
    private let state = Mutex<(device: DeviceIdentifier, admittance: LinkSecurity.Admittance?)?>(nil)
    private let undecided = Mutex<LinkError?>(nil)
    /// Closes the link at once, without a word.
    private let close: @Sendable () -> EventLoopFuture<Void>

    init(_ admission: @escaping LinkSecurity.Admission, closing close: @escaping @Sendable () -> EventLoopFuture<Void>)
    {
        (self.admission, self.close) = (admission, close)
    }

    /// Why it could not be decided what the other side may do; `nil` if it could.
    var failure: LinkError? { undecided.withLock { $0 } }

    /// The device whose certificate the other side has shown; `nil` for none. What it may do is `nil` while that is being decided.
    var verdict: (device: DeviceIdentifier, admittance: LinkSecurity.Admittance?)? { state.withLock { $0 } }

    /// NIOSSL's callback, which replaces every other verification.
    func verify(_ certificates: [NIOSSLCertificate], _ promise: EventLoopPromise<NIOSSLVerificationResult>) {
        guard let certificate = try? certificates.first?.toDERBytes() else { return promise.succeed(.failed) }
        let id = DeviceIdentifier(ofCertificate: certificate)
        state.withLock { $0 = (id, nil) }
        NIOThreadPool.forLinks.submit { [self] state in
            let admittance: LinkSecurity.Admittance
            do {
                admittance = state == .active ? try admission(id) : .refused
            } catch {
                let failure: LinkError =
                    if case .file(let error)? = error as? IdentityError { .file(error) } else { .io(.ioError) }
                undecided.withLock { $0 = failure }
                close().whenComplete { _ in promise.succeed(.failed) }
                return
            }
            self.state.withLock { $0 = (id, admittance) }
            promise.succeed(admittance == .refused ? .failed : .certificateVerified)
        }
    }
}

extension DeviceIdentity {
    /// TLS 1.3, a certificate required on both sides, and no root of trust.
    ///
    /// Each link has a context of its own. A session ticket, which would let a later handshake go without certificates, is sealed with
    /// a key of the context; so no ticket is good for another link.
    func makeTLSContext() throws(LinkError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: [.certificate(try NIOSSLCertificate(bytes: certificate, format: .der))],
                privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.derRepresentation), format: .der)))
            configuration.minimumTLSVersion = .tlsv13
            configuration.maximumTLSVersion = .tlsv13
            // It makes a certificate required. `PeerVerification` alone verifies it.
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates([])
            configuration.renegotiationSupport = .none
            configuration.applicationProtocols = []
            // How long a side that closes a link waits for the other side's close_notify.
            configuration.shutdownTimeout = .milliseconds(500)
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw .tlsFailed("\(error)")
        }
    }
}
