import ShipProtocol
import ShipTransport

/// Takes what comes over a link apart into its preamble and frames.
struct FrameReader {
    private var reader: LinkReader
    private let timeouts: Timeouts
    private var parser = FrameParser()
    private var leastRate: LeastRate?

    init(_ reader: LinkReader, _ timeouts: Timeouts) {
        self.reader = reader
        self.timeouts = timeouts
    }

    /// The payload of MANIFEST in a signed shipment, as it came.
    var signedPayload: [UInt8]? { parser.signedPayload }

    /// From here on the other side has nothing to do but to send.
    mutating func expectSending() { leastRate = LeastRate(timeouts) }

    /// The next element.
    ///
    /// - Parameter deadline: When the element must be whole; without one, only silence is limited.
    /// - Returns: `nil` once the other side has ended its stream between two frames.
    /// - Throws: `ProtocolError`, `LinkError`.
    mutating func next(by deadline: ContinuousClock.Instant? = nil) async throws -> FrameParser.Element? {
        while true {
            if let element = try parser.next() { return element }
            var patience = timeouts.idle
            if let deadline { patience = min(patience, max(.zero, deadline - .now)) }
            let start = ContinuousClock.now
            guard let bytes = try await reader.next(within: patience) else {
                try parser.finish()
                return nil
            }
            try leastRate?.count(bytes.count, waited: .now - start)
            parser.append(bytes)
        }
    }
}
