public import SystemPackage

/// How links are made and ended. How long to wait for bytes is said with each call.
public struct LinkOptions: Sendable {
    /// Which addresses may be spoken to, or listened on, without TLS.
    public enum Reach: Hashable, Sendable {
        /// This machine only.
        case loopback
        /// Any: whoever is on the way can read and change what goes over the link.
        case anywhere
    }

    public var reach = Reach.loopback
    /// For looking up the name and connecting, together.
    public var connectTimeout = Duration.seconds(10)
    /// How long to wait at the end for the peer to take the last word and to close its side. Closing earlier, with bytes
    /// of the peer's unread, makes TCP reset the connection, and the peer may lose what it has not read yet.
    public var lingerTime = Duration.seconds(2)
    /// How long a child may take to end by itself after the link did.
    public var childExitTime = Duration.seconds(5)
    /// How many connections a listener serves at a time; further ones wait in the system's queue.
    public var maximumConnections = 64
    /// What `-` stands for.
    public var standardInput = FileDescriptor.standardInput
    public var standardOutput = FileDescriptor.standardOutput

    public init() {}
}
