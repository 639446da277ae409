package import ShipProtocol

/// Blocks back into the bytes of their parts, one after the other.
///
/// Source: `Protocol/README.md` section 3.3. Vectors: `block_*`.
package struct BlockDecoder: Sendable {
    /// How far back a `zlib-window` block may refer, in bytes. Our own encoder makes none; one that has only zlib may.
    private static let windowSize = 32_768

    private var part: UInt32 = 0
    private var window: [UInt8] = []

    package init() {}

    /// - Parameter block: The next one in order.
    /// - Returns: Exactly `decodedSize` bytes.
    package mutating func decode(_ block: Block) throws(CompressionError) -> [UInt8] {
        if block.offset == 0 || block.part != part {
            part = block.part
            window = []
        }
        let decoded =
            switch block.encoding {
            case .stored: block.encoded
            case .zlib: try Inflate.bytes(of: block.encoded, window: [], size: block.decodedSize)
            case .zlibWindow: try Inflate.bytes(of: block.encoded, window: window[...], size: block.decodedSize)
            }
        guard decoded.count == block.decodedSize else { throw .damaged(.decodedSize) }
        window = Array((window.suffix(max(0, Self.windowSize - decoded.count)) + decoded.suffix(Self.windowSize)))
        return decoded
    }
}
