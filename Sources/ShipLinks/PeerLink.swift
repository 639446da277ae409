package import DeviceTrust
package import ShipProtocol
import Synchronization

/// A link, and what is known of its other end. It is open while the closure that received it runs.
package struct PeerLink: Sendable {
    /// Longest piece that is read at a time, in bytes.
    package static let pieceSize = 64 * 1024

    /// One-way: bytes go from the producer to the consumer only, and no answer comes back.
    package let direction: Preamble.Mode
    /// Whether the producer's bytes are kept: no other end reads or writes them now, and the shipment itself must say who made it.
    package let isFile: Bool
    /// At its end from the start if the link is for writing only.
    package let reader: any LinkReader
    /// Throws `.oneWay` if the link is for reading only.
    package let writer: any LinkWriter
    /// Who is at the other end, for messages.
    package let peer: Peer
    /// The device at the other end, by its certificate; `nil` where no certificate is asked for: on this machine, and on an app's link.
    package let device: DeviceIdentifier?
    /// The device that must have signed what comes over a one-way link, and those that it follows; `nil` where that is for each shipment
    /// to say.
    package let signer: Succession?
    /// Whether it has signed all that comes, so that a shipment need not say so itself.
    package let isSigned: Bool

    /// Who is at the other end, for messages.
    package enum Peer: Hashable, Sendable {
        case at(Endpoint)
        /// An app carries the link, and gives the other side this name.
        case carried(String)
    }

    package init(
        direction: Preamble.Mode, isFile: Bool = false, reader: any LinkReader, writer: any LinkWriter, peer: Peer,
        device: DeviceIdentifier? = nil, signer: Succession? = nil, isSigned: Bool = false
    ) {
        self.direction = direction
        self.isFile = isFile
        self.reader = reader
        self.writer = writer
        self.peer = peer
        self.device = device
        (self.signer, self.isSigned) = (signer, isSigned)
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
package protocol LinkReader: Sendable {
    /// The next piece, of any length.
    ///
    /// A call that timed out or was cancelled loses nothing: the next call continues where it stopped. If the link broke, the reader
    /// first gives what the peer sent before, then throws the error. A file never times out.
    ///
    /// - Parameter limit: How long to wait for the first byte.
    /// - Returns: `nil` when the peer has ended its side; from then on always `nil`.
    func next(within limit: Duration) async throws(LinkError) -> [UInt8]?

    /// Whether the peer is known to have ended its side, or the link to be broken, though `next` may still give what came before that.
    var hasEnded: Bool { get }
}

extension LinkReader {
    package var hasEnded: Bool { false }
}

/// The bytes to the peer. Several tasks may write: the bytes of one call stay together.
package protocol LinkWriter: Sendable {
    /// Returns when the system has taken the last byte, so that a slow peer slows the writer.
    ///
    /// The link holds a copy of the bytes meanwhile. After an error the reader still gives the bytes that the peer sent before, then
    /// the end or an error.
    ///
    /// - Parameter limit: How long the peer may take no byte at all; the whole call may take longer. A file never times out.
    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError)

    /// Tells the peer that nothing more comes; reading goes on. A file appears under its name now, complete and synced. A second call
    /// does nothing. Without a call, the link finishes when the closure that received it returns.
    func finish() async throws(LinkError)
}

/// A side of a link with nobody at its other end: a reader at its end, and a writer that throws `.oneWay`, or discards the bytes.
package struct ClosedSide: LinkReader, LinkWriter {
    private let discards: Bool

    /// - Parameter discards: Whether the writer takes bytes, for them to be counted.
    package init(discarding discards: Bool = false) { self.discards = discards }

    package func next(within limit: Duration) async throws(LinkError) -> [UInt8]? { nil }
    package func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        guard discards else { throw .oneWay }
    }
    package func finish() async throws(LinkError) {}
}

extension PeerLink {
    /// A link into a file that is never made, to count the bytes that would go.
    package static func nowhere(as endpoint: Endpoint) -> PeerLink {
        PeerLink(
            direction: .oneWay, isFile: true, reader: ClosedSide(), writer: ClosedSide(discarding: true),
            peer: .at(endpoint))
    }

    /// The same link, whose reader gives `bytes` first: they have been read from it already.
    package func prefixed(with bytes: [UInt8]) -> PeerLink {
        PeerLink(
            direction: direction, isFile: isFile, reader: PrefixedReader(bytes, reader), writer: writer,
            peer: peer, device: device, signer: signer, isSigned: isSigned)
    }
}

private final class PrefixedReader: LinkReader {
    private let prefix: Mutex<[UInt8]>
    private let rest: any LinkReader

    init(_ prefix: [UInt8], _ rest: any LinkReader) {
        self.prefix = Mutex(prefix)
        self.rest = rest
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        let first = prefix.withLock { prefix in
            defer { prefix = [] }
            return prefix
        }
        guard first.isEmpty else { return first }
        return try await rest.next(within: limit)
    }

    var hasEnded: Bool { rest.hasEnded }
}

// MARK: An app's link

extension PeerLink {
    /// - Parameters:
    ///   - link: Keeps its own limits of time, except for `finish`, which has none.
    ///   - name: The name of the other side, in messages; a sender also remembers by it what its receivers have.
    ///   - limit: How long `finish` may take.
    package init(_ link: some Link, to name: String, finishingWithin limit: Duration) {
        let adapter = CarriedLink(link: link, limit: limit)
        self.init(direction: .twoWay, reader: adapter, writer: adapter, peer: .carried(name))
    }
}

/// Makes each error of an app's link a `LinkError`, and lets one task write to it at a time.
private struct CarriedLink<Carrier: Link>: LinkReader, LinkWriter {
    let link: Carrier
    let limit: Duration
    private let writes = WholeWrites()

    init(link: Carrier, limit: Duration) { (self.link, self.limit) = (link, limit) }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        do {
            guard let bytes = try await link.read(within: limit), !bytes.isEmpty else { return nil }
            return bytes
        } catch {
            throw LinkError(ofCarrier: error)
        }
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        guard !bytes.isEmpty else { return }
        try await writes.run { [link] in try await link.write(bytes, within: limit) }
    }

    func finish() async throws(LinkError) {
        try await AwaitedAnswer.ofCarrier(within: limit) { [link, last = writes.end] in
            _ = await last?.result
            try await link.finish()
        }
    }
}
