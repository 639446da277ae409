import ShipLinks

/// A writer that sends no faster than a limit allows, and in small pieces, so that the peer is never without a byte for long.
struct PacedWriter: LinkWriter {
    let writer: any LinkWriter
    let limit: RateLimit
    /// The bytes of one call stay together, and none of them stays behind.
    private let writes = WholeWrites()

    func write(_ bytes: [UInt8], within time: Duration) async throws(LinkError) {
        try await writes.run { [writer, limit] in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(limit.grant)
                rest = rest.dropFirst(piece.count)
                try await limit.wait(for: piece.count)
                try await writer.write(Array(piece), within: time)
            }
        }
    }

    func finish() async throws(LinkError) { try await writer.finish() }
}
