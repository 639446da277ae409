package import DeviceTrust
import Synchronization

/// A link, and what is known of its other end. It is open for as long as the body that it was given to runs.
package struct PeerLink: Sendable {
    package enum Direction: Hashable, Sendable {
        /// Bytes go from the producer to the consumer only: nobody answers.
        case oneWay
        case twoWay
    }

    /// What the producer's bytes go into, or come from: it decides who has to say who made a shipment.
    package enum Medium: Hashable, Sendable {
        /// Somebody reads them now, or writes them.
        case stream
        /// They are kept.
        case file
    }

    package let direction: Direction
    package let medium: Medium
    /// At its end from the start if the link goes the other way only.
    package let reader: LinkReader
    /// Throws `.oneWay` if the link goes the other way only.
    package let writer: LinkWriter
    /// Who is at the other end, for messages.
    package let peer: Peer
    /// Which device that is, by its certificate; `nil` where nobody is asked: on this machine, and where something else
    /// carries the link.
    package let device: DeviceIdentifier?

    /// Who is at the other end, as far as messages go.
    package enum Peer: Hashable, Sendable {
        case at(Endpoint)
        /// An app carries the link, and calls the other side so.
        case carried(String)
    }

    package init(
        direction: Direction, medium: Medium = .stream, reader: LinkReader, writer: LinkWriter, peer: Peer,
        device: DeviceIdentifier? = nil
    ) {
        self.direction = direction
        self.medium = medium
        self.reader = reader
        self.writer = writer
        self.peer = peer
        self.device = device
    }
}

extension PeerLink {
    /// A link into a file that is never made: to find out how many bytes would go.
    package static func nowhere(as endpoint: Endpoint) -> PeerLink {
        PeerLink(
            direction: .oneWay, medium: .file, reader: LinkReader(NoSource()), writer: LinkWriter(ForgetfulSink()),
            peer: .at(endpoint))
    }
}

extension PeerLink.Peer: CustomStringConvertible {
    package var description: String {
        switch self {
        case .at(let endpoint): "\(endpoint)"
        case .carried(let name): name
        }
    }
}

/// The bytes from the peer. One task reads at a time.
package struct LinkReader: Sendable {
    /// Longest piece that is read at a time, in bytes.
    package static let pieceSize = 64 * 1024

    private let source: any LinkSource

    package init(_ source: some LinkSource) {
        self.source = source
    }

    /// The next piece, of whatever length the bytes come in.
    ///
    /// A call that timed out or was cancelled has lost nothing: the next one goes on where it left off. What the peer sent
    /// before the link broke is still given, then the error. A file never times out.
    ///
    /// - Parameter limit: How long to wait for the first byte.
    /// - Returns: `nil` when the peer has ended its side; from then on always `nil`.
    package mutating func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        try await source.next(within: limit)
    }
}

/// The bytes to the peer. Several tasks may write: what one call gives stays together.
package struct LinkWriter: Sendable {
    private let sink: any LinkSink

    package init(_ sink: some LinkSink) {
        self.sink = sink
    }

    /// Returns when the system has taken the last byte: so a slow peer slows the writer.
    ///
    /// A copy of the bytes is held meanwhile. After an error the bytes that the peer sent before may still be read, then
    /// the end or an error.
    ///
    /// - Parameter limit: How long the peer may take nothing at all, however long the whole takes. A file never times out.
    package func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        try await sink.write(bytes, within: limit)
    }

    /// Says that nothing more comes; reading goes on. A file appears under its name now, whole and synced. A second call
    /// does nothing; the end of the body that the link was given to does it, if it was not done.
    package func finish() async throws(LinkError) {
        try await sink.finish()
    }
}

/// Where a reader's bytes come from.
package protocol LinkSource: Sendable {
    /// See `LinkReader.next`.
    func next(within limit: Duration) async throws(LinkError) -> [UInt8]?
}

/// Where a writer's bytes go.
package protocol LinkSink: Sendable {
    /// See `LinkWriter.write`.
    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError)
    /// See `LinkWriter.finish`.
    func finish() async throws(LinkError)
}

/// The reading side of a link on which one only writes.
package struct NoSource: LinkSource {
    package init() {}

    package func next(within limit: Duration) async throws(LinkError) -> [UInt8]? { nil }
}

/// The writing side of a link on which one only reads.
package struct NoSink: LinkSink {
    package init() {}

    package func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) { throw .oneWay }
    package func finish() async throws(LinkError) {}
}

/// Where bytes go that nobody keeps.
private struct ForgetfulSink: LinkSink {
    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {}
    func finish() async throws(LinkError) {}
}

extension PeerLink {
    /// The same link, of which some bytes have been read already.
    package func begun(with bytes: [UInt8]) -> PeerLink {
        PeerLink(
            direction: direction, medium: medium, reader: LinkReader(PrefixedSource(bytes, reader)), writer: writer,
            peer: peer, device: device)
    }
}

/// Gives bytes that have been read before, then the rest.
private final class PrefixedSource: LinkSource {
    private let prefix: Mutex<[UInt8]>
    private let rest: LinkReader

    init(_ prefix: [UInt8], _ rest: LinkReader) {
        self.prefix = Mutex(prefix)
        self.rest = rest
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        let first = prefix.withLock { prefix in
            defer { prefix = [] }
            return prefix
        }
        guard first.isEmpty else { return first }
        var rest = rest
        return try await rest.next(within: limit)
    }
}
