import ShipLinks
import ShipProtocol

/// Takes what comes over a link apart into its preamble and frames.
struct FrameReader {
    /// When something must be there, whatever else comes until then, and what it means if it is not.
    struct Deadline {
        let end: ContinuousClock.Instant
        let error: ShipmentError

        func check() throws {
            if .now >= end { throw error }
        }
    }

    private var reader: LinkReader
    private let timeouts: Timeouts
    private var parser = FrameParser()
    private var leastRate: LeastRate?
    private var bytesRead: Int64 = 0

    init(_ reader: LinkReader, _ timeouts: Timeouts) {
        self.reader = reader
        self.timeouts = timeouts
    }

    /// What a manifest may refer to from here on.
    mutating func hold(_ contents: HeldContents) { parser.held = contents }

    /// The content that the manifest that came last refers to.
    var manifestBase: ManifestContent.ID? { parser.base }

    /// What was offered last: what an answer may refer to.
    var offer: OfferedManifest? {
        get { parser.offer }
        set { parser.offer = newValue }
    }

    /// See `FrameParser.dataOnTheWay`.
    var dataOnTheWay: (bytes: [UInt8], size: Int)? { parser.dataOnTheWay }

    /// The payload of MANIFEST in a signed shipment, as it came.
    var signedPayload: [UInt8]? { parser.signedPayload }

    /// Bytes so far, but for those of frames that say nothing. What is here of a frame counts before it is whole.
    private var content: Int64 { bytesRead - parser.emptyBytes }

    /// From here on the other side has nothing to do but to send a shipment of so many bytes.
    mutating func expectSending(of size: Int64) { leastRate = LeastRate(timeouts, for: size, after: content) }

    /// It has, and may take its time with what it does next.
    mutating func expectNothing() { leastRate = nil }

    /// The next element.
    ///
    /// - Parameter deadline: When what is waited for must be whole, by whatever other elements it is preceded; without one,
    ///   only silence is limited. Asked for anew each time something has come.
    /// - Returns: `nil` once the other side has ended its stream between two frames.
    /// - Throws: `ProtocolError`, `LinkError`, and the deadline's error.
    mutating func next(by deadline: @autoclosure () -> Deadline? = nil) async throws -> FrameParser.Element? {
        while true {
            let deadline = deadline()
            try deadline?.check()
            if let element = try parser.next() { return element }
            let content = content
            try leastRate?.check(content)
            if try await readOn(until: deadline) == .end {
                try parser.finish()
                return nil
            }
        }
    }

    private enum Reading: Hashable {
        case goesOn
        case end
    }

    private mutating func readOn(until deadline: Deadline?) async throws -> Reading {
        let start = ContinuousClock.now
        let timeLeft = deadline.map { max(.zero, $0.end - start) } ?? timeouts.idle
        do {
            guard let bytes = try await reader.next(within: min(timeouts.idle, timeLeft)) else { return .end }
            leastRate?.wait(.now - start)
            bytesRead += Int64(bytes.count)
            parser.append(bytes)
        } catch {
            // Then the deadline has passed, which says more.
            guard case .timedOut = error, timeLeft < timeouts.idle else { throw error }
        }
        return .goesOn
    }
}
