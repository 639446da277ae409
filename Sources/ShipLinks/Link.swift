public import DeviceTrust
public import ShipProtocol
public import StoreFiles
public import SystemPackage

/// A stream of bytes to a peer and one from it, whatever carries them: a session goes over any of these.
///
/// One task reads at a time, and one writes, both at the same time. The other end reads the written bytes once each, in order, in
/// pieces of any length. Where messages may come twice or overtake each other, `MessageLink` restores that order. `StreamLink` makes a
/// link of an asynchronous sequence and a closure.
///
/// A link may throw errors of any kind; they end the session. Reports show `LinkError` and `CancellationError` as they are.
public protocol Link: Sendable {
    /// The next bytes, in pieces of any length.
    ///
    /// A call that timed out or was cancelled loses nothing: the next call continues where it stopped.
    ///
    /// - Parameter limit: How long to wait for the first byte; then `LinkError.timedOut(.reading)`.
    /// - Returns: `nil`, or no bytes, once the peer has finished its side.
    func read(within limit: Duration) async throws -> [UInt8]?

    /// Returns when the carrier of the link has taken the last byte, so that a slow link slows the writer.
    ///
    /// - Parameters:
    ///   - bytes: Any number of them.
    ///   - limit: How long the carrier may take no byte at all; then `LinkError.timedOut(.writing)`.
    func write(_ bytes: [UInt8], within limit: Duration) async throws

    /// Tells the peer that nothing more comes; reading goes on. A second call does nothing.
    func finish() async throws
}

/// Why a link could not be made, or broke.
public enum LinkError: Error, Hashable, Sendable {
    // Making the link.

    /// The host has no address; `reason` is what the resolver says.
    case couldNotResolve(host: String, reason: String)
    /// No process listens there.
    case refused(Endpoint)
    /// No answer within the time for connecting.
    case timedOutConnecting(Endpoint)
    /// No way there: no route, the network is down, no such socket file.
    case unreachable(Endpoint, Errno)
    /// The address is another device's, or open to other devices, and this device trusts none.
    case notLoopback(Endpoint)
    /// Another process listens there.
    case addressInUse(Endpoint)
    /// The system forbids it: a port below 1024, a socket of another user.
    case notPermitted(Endpoint)
    /// The address is not one of this machine's.
    case notOurAddress(Endpoint)
    /// The file at the path is not a socket.
    case notASocket(FilePath)
    /// A Unix socket's path has at most `limit` bytes.
    case pathTooLong(FilePath, limit: Int)
    /// Binary data is neither read from a terminal nor written to it.
    case isATerminal(Activity)
    /// The shell could not be started.
    case childNotStarted(Errno)
    /// A file that is no shipment has the path of the file to write.
    case inTheWay(FilePath)
    /// Other users can reach the folder of a socket: it must be the user's own, and 0700.
    case folderIsOpen(FilePath)

    // Who is at the other end.

    /// This device does not trust the device at the other end for this.
    case notTrusted(DeviceIdentifier)
    /// The other side does not trust this device, which has this id.
    case notTrustedThere(DeviceIdentifier)
    /// The other side has shown no certificate.
    case noCertificate
    /// The other side does not speak TLS.
    case noTLSThere
    /// The other side speaks TLS, and this one does not.
    case onlyTLSThere
    /// TLS failed, in its library's words.
    case tlsFailed(String)
    /// The certificate of a web server is not for its name, has expired, or no authority that is trusted vouches for it.
    case certificateRefused
    /// A file of authorities has no certificate.
    case noAuthorities(FilePath)
    /// The proxy that the environment names is no help.
    case proxyFailed(Endpoint, ProxyFailure)
    /// This variable of the environment names no proxy that can be used.
    case badProxy(variable: String)
    /// A process of another user is at the other end of a Unix socket.
    case otherUser(UInt32)

    // Using the link.

    /// No byte moved for the time that the caller allowed.
    case timedOut(Activity)
    /// Fewer bytes came than this.
    case tooSlow(bytesPerSecond: Int)
    /// The peer closed or reset the link.
    case closedByPeer
    /// The child ended with a failure.
    case childFailed(ChildStatus)
    /// The link is for the other direction only.
    case oneWay
    case file(FileError)
    /// The app's own carrier of the link has failed, in its own words.
    case carrierFailed(ForeignText)
    case cancelled
    /// Any other error of the system.
    case io(Errno)

    public enum Activity: Hashable, Sendable { case reading, writing }
}

/// How a child ended.
public enum ChildStatus: Hashable, Sendable {
    case exited(code: Int32)
    case signalled(Int32)
}

extension LinkError: FileErrorWrapping {
    /// The error of an app's own code, or of the carrier of its link.
    package init(ofCarrier error: any Error) {
        self =
            switch error {
            case let error as LinkError: error
            case is CancellationError: .cancelled
            default: .carrierFailed(ForeignText(String(describing: error)))
            }
    }
}
