import ShipProtocol

/// The blocks of one part back into its bytes.
///
/// Source: `Protocol/README.md` section 3.4. Vectors: `block_*`.
package struct BlockDecoder: Sendable {
    /// How far back a block with a window may refer, in bytes. Our own encoder makes none; one that has only zlib may.
    private static let windowSize = 32_768

    /// Of the part, in bytes.
    private let size: Int64
    private var offset: Int64
    private var window: [UInt8]

    /// - Parameters:
    ///   - size: Of the part, in bytes.
    ///   - offset: Where the first block begins in the part.
    ///   - before: The last bytes of the part before it, as far back as a block may refer.
    package init(size: Int64, from offset: Int64 = 0, after before: [UInt8] = []) {
        self.size = size
        self.offset = offset
        window = before.suffix(Self.windowSize)
    }

    /// - Parameters:
    ///   - data: The part's next block.
    ///   - isLast: Whether the part is said to end with it.
    /// - Returns: What it stands for.
    /// - Throws: `ProtocolError.badBlock`, `CompressionError`.
    package mutating func decode(_ data: [UInt8], isLast: Bool) throws -> [UInt8] {
        let block = try Block(decoding: data)
        guard block.form != .zlibWindow || offset > 0 else { throw ProtocolError.badBlock(.windowAtStart) }
        let end = offset + Int64(block.decodedSize)
        guard end <= size else { throw ProtocolError.badBlock(.beyondEnd) }
        guard isLast == (end == size) else { throw ProtocolError.badBlock(.end) }
        let decoded =
            switch block.form {
            case .stored: block.encoded
            case .zlib: try Inflate.bytes(of: block.encoded, window: [], size: block.decodedSize)
            case .zlibWindow: try Inflate.bytes(of: block.encoded, window: window[...], size: block.decodedSize)
            }
        guard decoded.count == block.decodedSize else { throw CompressionError.damaged(.decodedSize) }
        window = Array((window.suffix(max(0, Self.windowSize - decoded.count)) + decoded.suffix(Self.windowSize)))
        offset = end
        return decoded
    }
}
