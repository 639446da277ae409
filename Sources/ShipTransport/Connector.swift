// Whoever makes links sees what they are.
@_exported public import ShipLinks
public import SystemPackage

/// Makes the link that an endpoint names, for as long as a body of code needs it.
package enum Connector {
    /// A link to send a shipment over. `-` and a file go one way only.
    ///
    /// The file appears under its name when the body is done, synced; never if it throws. When the body is done, the link
    /// is finished and closed; see `LinkOptions.lingerTime`. A child is given `LinkOptions.childExitTime` to end and is
    /// then stopped, at once when the task is cancelled.
    ///
    /// - Throws: `LinkError`, or what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        to endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        switch endpoint {
        case .tcp(let host, let port): try await SocketConnection.toHost(host, port: port, options).use(body)
        case .unix(let path): try await SocketConnection.toSocketFile(path, options).use(body)
        case .command(let command): try await ChildLink.use(command, options, body)
        case .standardStreams: try await StandardStreams.sending(options).use(body)
        case .file(let path):
            switch try FileLink.target(at: path) {
            case .file: try await FileLink.withLink(to: path, over: options.overwriting, body)
            case .special: try await DescriptorLink.writing(toSpecialFile: path, options).use(body)
            }
        }
    }

    /// Whether a shipment may be written there, of what can be told without opening a link.
    ///
    /// - Throws: `.inTheWay`, or `.file` for a folder.
    package static func checkTarget(_ endpoint: Endpoint, _ options: LinkOptions) throws(LinkError) {
        if case .file(let path) = endpoint { try FileLink.checkTarget(path, options.overwriting) }
    }

    /// A link to receive a shipment from. A file goes one way only; so does `-`, unless an answer can be written to the
    /// standard output: to a pipe or a socket, not to a terminal or a file.
    ///
    /// - Throws: `LinkError`, or what `body` throws.
    package nonisolated(nonsending) static func withLink<Result>(
        from endpoint: Endpoint, _ options: LinkOptions = LinkOptions(),
        _ body: nonisolated(nonsending) (PeerLink) async throws -> Result
    ) async throws -> Result {
        switch endpoint {
        case .tcp, .unix, .command: try await withLink(to: endpoint, options, body)
        case .standardStreams: try await StandardStreams.receiving(options).use(body)
        case .file(let path): try await FileLink.withLink(from: path, within: options.connectTimeout, body)
        }
    }
}

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
