import CDeflate

/// One zlib stream (RFC 1950) from one run of bytes.
///
/// libdeflate writes it, not zlib: the same format in a third of the time, and smaller, because it parses ahead and ends its
/// blocks where the bytes change. It takes a whole run at once, and knows no preset dictionary.
enum Deflate {
    /// - Parameter input: Non-empty.
    /// - Returns: `nil` if the stream would not be shorter than the input, and at the level `.stored`.
    static func stream(of input: [UInt8], level: CompressionLevel) throws(CompressionError) -> [UInt8]? {
        guard level != .stored else { return nil }
        guard let compressor = libdeflate_alloc_compressor(level.value) else { throw .outOfMemory }
        defer { libdeflate_free_compressor(compressor) }
        let capacity = input.count - 1
        let output = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            // 0 if it does not fit.
            count = libdeflate_zlib_compress(compressor, input, input.count, output.baseAddress, capacity)
        }
        return output.isEmpty ? nil : output
    }
}
