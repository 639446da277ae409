public import ShipLinks
public import SystemPackage

/// How links are made and ended. How long to wait for bytes is said with each call.
public struct LinkOptions: Sendable {
    /// Of TCP links: who may be at the other end, and with that, where it may be.
    package var security = LinkSecurity.plainOnLoopback
    /// Of a listener's connections, where that is not decided once and for all: `security` says then where it may listen.
    package var securityOfEach: LinkSecurity.Choice?
    /// For looking up the name, connecting and the handshake, together.
    public var connectTimeout = Duration.seconds(10)
    /// How long whoever connects to a listener may take to show who they are.
    public var handshakeTimeout = Duration.seconds(10)
    /// How long to wait at the end for the peer to take the last word and to close its side. Closing earlier, with bytes
    /// of the peer's unread, makes TCP reset the connection, and the peer may lose what it has not read yet.
    public var lingerTime = Duration.seconds(2)
    /// How long a child may take to end by itself after the link did.
    public var childExitTime = Duration.seconds(5)
    /// How many connections a listener serves at a time; further ones wait. Places are shared by device: see `SharedPlaces`.
    public var maximumConnections = 64
    /// How many connections may be of those who are not known yet, in the middle of their handshake or there to pair, and how
    /// many of them from one network address; for one more the oldest is closed, of the address that has most. So those who
    /// connect and say nothing keep nobody out.
    public var maximumHandshakes = 256
    public var maximumHandshakesPerAddress = 64
    /// What a shipment that becomes a file may take the place of.
    public var overwriting = Overwriting.shipments
    /// What `-` stands for.
    public var standardInput = FileDescriptor.standardInput
    public var standardOutput = FileDescriptor.standardOutput
    /// Whether something else is written to the standard output of whoever receives from `-`: then nobody is answered there.
    public var standardOutputIsTaken = false

    public init() {}
}
