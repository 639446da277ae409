public import DeviceTrust
public import ShipProtocol
public import StoreFiles
public import SystemPackage

/// Why a link could not be made, or broke.
public enum LinkError: Error, Hashable, Sendable {
    // Making the link.

    /// The host has no address; `reason` is what the resolver says.
    case couldNotResolve(host: String, reason: String)
    /// Nobody listens there.
    case refused(Endpoint)
    /// No answer within the time for connecting.
    case timedOutConnecting(Endpoint)
    /// No way there: no route, the network is down, no such socket file.
    case unreachable(Endpoint, Errno)
    /// The address is one of another device, or open to other devices, and nobody is trusted there.
    case notLoopback(Endpoint)
    /// Somebody else listens there.
    case addressInUse(Endpoint)
    /// The system forbids it: a port below 1024, a socket of another user.
    case notPermitted(Endpoint)
    /// The address is not one of this machine's.
    case notOurAddress(Endpoint)
    /// There is something else than a socket at the path.
    case notASocket(FilePath)
    /// A Unix socket's path has at most `limit` bytes.
    case pathTooLong(FilePath, limit: Int)
    /// Binary data is neither read from a terminal nor written to it.
    case isATerminal(Stream)
    /// The shell could not be started.
    case childNotStarted(Errno)
    /// A file that is no shipment stands where one should be written.
    case inTheWay(FilePath)
    /// Other users can get at the folder of a socket: it must be the user's own, and 0700.
    case folderIsOpen(FilePath)

    // Who is at the other end.

    /// The device at the other end, by its certificate, is none that is trusted for this.
    case notTrusted(DeviceIdentifier)
    /// The other side does not trust this device, whose id this is.
    case notTrustedThere(DeviceIdentifier)
    /// The other side has shown no certificate.
    case noCertificate
    /// The other side does not speak TLS.
    case noTLSThere
    /// The other side speaks TLS, and this one does not.
    case onlyTLSThere
    /// TLS came to nothing, in its library's words.
    case tlsFailed(String)
    /// A process of another user is at the other end of a Unix socket.
    case otherUser(UInt32)

    // Using the link.

    /// Nothing moved for the time that was given.
    case timedOut(Activity)
    /// Less came than this.
    case tooSlow(bytesPerSecond: Int)
    /// The peer is gone: it closed or reset the link.
    case closedByPeer
    /// The child ended, and not well.
    case childFailed(ChildStatus)
    /// The link goes the other way only.
    case oneWay
    case file(FileError)
    /// What an app carries the link over has failed, in its own words.
    case carrierFailed(ForeignText)
    case cancelled
    /// Anything else that the system says.
    case io(Errno)

    public enum Activity: Hashable, Sendable { case reading, writing }
    public enum Stream: Hashable, Sendable { case input, output }
}

extension LinkError {
    /// What a call about the file of a link comes to.
    package static func ofFile<Value: ~Copyable>(_ call: () throws(FileError) -> Value) throws(LinkError) -> Value {
        do throws(FileError) {
            return try call()
        } catch {
            throw .file(error)
        }
    }
}

/// How a child ended.
public enum ChildStatus: Hashable, Sendable {
    case exited(code: Int32)
    case signalled(Int32)
}
