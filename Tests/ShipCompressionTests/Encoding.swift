import ShipCompression
import ShipProtocol
import Testing

/// An encoder over bytes in memory.
struct Encoding {
    let encoder: BlockEncoder

    init(cores: Int, level: Int = 6) throws {
        encoder = BlockEncoder(CompressionSettings(try #require(CompressionLevel(level))), cores: cores)
    }

    static func source(_ part: Int, _ bytes: [UInt8]) -> BlockEncoder.Source {
        BlockEncoder.Source(part: part, size: Int64(bytes.count)) { Array(bytes[Int($0)...].prefix($1)) }
    }

    /// All blocks, as they were delivered.
    func blocks(of parts: [[UInt8]]) async throws -> [BlockEncoder.Placed] {
        var blocks: [BlockEncoder.Placed] = []
        try await encoder.encode(parts.enumerated().map(Self.source)) { blocks.append($0) }
        return blocks
    }
}
