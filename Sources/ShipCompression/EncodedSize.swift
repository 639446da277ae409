/// What bytes would take on the wire.
package enum EncodedSize {
    /// The size of one block, in bytes.
    package static func of(_ bytes: [UInt8], level: CompressionLevel = .standard) throws(CompressionError) -> Int {
        guard !bytes.isEmpty else { return 0 }
        return try Deflate.stream(of: bytes, level: level)?.count ?? bytes.count
    }
}
