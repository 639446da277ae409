import ShipProtocol

/// Decodes the blocks of one part.
///
/// Source: `Protocol/README.md` section 3.4. Vectors: `block_*`.
package struct BlockDecoder: Sendable {
    /// Of the part, in bytes.
    private let size: Int64
    private var offset: Int64
    /// The bytes that a block with a window may refer to. Our own encoder makes none; one that has only zlib may.
    private var window: [UInt8]

    /// - Parameters:
    ///   - size: Of the part, in bytes.
    ///   - offset: Where the first block begins in the part.
    ///   - before: The last bytes of the part before it, as far back as a block may refer.
    package init(size: Int64, from offset: Int64 = 0, after before: [UInt8] = []) {
        self.size = size
        self.offset = offset
        window = before.suffix(DeflateFormat.window)
    }

    /// - Returns: What it stands for.
    /// - Throws: `ProtocolError.badBlock`, `CompressionError`.
    package mutating func decode(_ data: [UInt8], isLast: Bool) throws -> [UInt8] {
        let block = try Block(decoding: data)
        guard block.form != .zlibWindow || offset > 0 else {
            throw ProtocolError.badBlock("a window where nothing comes before")
        }
        let end = offset + Int64(block.decodedSize)
        guard end <= size else { throw ProtocolError.badBlock("it goes beyond the end of its part") }
        guard isLast == (end == size) else { throw ProtocolError.badBlock("it is not the last one, or is") }
        let decoded =
            switch block.form {
            case .stored: block.encoded
            case .zlib: try Deflate.bytes(ofZlib: block.encoded, size: block.decodedSize)
            case .zlibWindow: try Deflate.bytes(ofZlib: block.encoded, window: window[...], size: block.decodedSize)
            }
        guard decoded.count == block.decodedSize else { throw CompressionError.damaged(.decodedSize) }
        window = Array(
            (window.suffix(max(0, DeflateFormat.window - decoded.count)) + decoded.suffix(DeflateFormat.window)))
        offset = end
        return decoded
    }
}
