public import ShipLinks
public import SystemPackage

/// How links are made and ended. Each call that moves bytes has its own limit of time.
public struct LinkOptions: Sendable {
    /// For TCP: who may be at the other end, and so where the other end may be.
    package var security = LinkSecurity.plainOnLoopback
    /// Decides anew for each connection of a listener; then `security` only says where the listener may listen.
    package var securityOfEach: LinkSecurity.Choice?
    /// For looking up the name, connecting and the handshake, together.
    public var connectTimeout = Duration.seconds(10)
    /// How long a device that connects to a listener may take for its handshake.
    public var handshakeTimeout = Duration.seconds(10)
    /// How long to wait at the end until the peer has read the last bytes and closed its side. Closing earlier, with unread bytes of
    /// the peer's, makes TCP reset the connection, and the peer may lose what it has not read yet.
    public var lingerTime = Duration.seconds(2)
    /// How long a child may run after its link has ended.
    public var childExitTime = Duration.seconds(5)
    /// How many connections a listener serves at a time; further ones wait. `SharedPlaces` says how devices share the places. At least one.
    public var maximumConnections = 64 {
        didSet { maximumConnections = max(1, maximumConnections) }
    }
    /// How many connections may be in their handshake or pairing. For one more the listener closes the oldest one of the address that has
    /// most, so that silent connections keep no device out. At least one.
    public var maximumHandshakes = 256 {
        didSet { maximumHandshakes = max(1, maximumHandshakes) }
    }
    /// A file with certificates, as PEM, of authorities that web servers are trusted by; `nil` for the system's.
    public var authorities: FilePath?
    /// How to reach S3-compatible storage.
    public var storage = StorageOptions()
    /// Which file a shipment may replace.
    public var overwriting = Overwriting.shipments
    /// The descriptors of `-`.
    public var standardInput = FileDescriptor.standardInput
    public var standardOutput = FileDescriptor.standardOutput
    /// Whether a receiver from `-` writes something else to its standard output: then it sends no answer there.
    public var standardOutputIsTaken = false

    public init() {}
}
