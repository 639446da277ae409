import NIOCore
import NIOPosix
import ShipLinks
import StoreFiles
import SystemPackage

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
