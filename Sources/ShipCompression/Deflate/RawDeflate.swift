import CDeflate

extension Deflate {
    /// One raw deflate stream (RFC 1951).
    ///
    /// - Parameter level: Of libdeflate, 1-12.
    /// - Returns: `nil` if the stream would not be shorter than the input.
    static func raw(of input: [UInt8], level: Int32) throws(CompressionError) -> [UInt8]? {
        guard let compressor = libdeflate_alloc_compressor(level) else { throw .outOfMemory }
        defer { libdeflate_free_compressor(compressor) }
        let output = [UInt8](unsafeUninitializedCapacity: input.count) { output, count in
            count = libdeflate_deflate_compress(compressor, input, input.count, output.baseAddress, input.count)
        }
        return output.isEmpty ? nil : output
    }
}

/// The bytes behind one raw deflate stream, which nobody vouches for.
enum RawInflate {
    /// - Parameters:
    ///   - input: Must be used to its last byte.
    ///   - size: Bytes to come out, exactly.
    static func bytes(of input: ArraySlice<UInt8>, size: Int) throws(CompressionError) -> [UInt8] {
        guard let decompressor = libdeflate_alloc_decompressor() else { throw .outOfMemory }
        defer { libdeflate_free_decompressor(decompressor) }
        var used = 0
        var result = LIBDEFLATE_BAD_DATA
        let output = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            input.withUnsafeBufferPointer { input in
                var made = 0
                result = libdeflate_deflate_decompress_ex(
                    decompressor, input.baseAddress, input.count, output.baseAddress, size, &used, &made)
                count = result == LIBDEFLATE_SUCCESS ? made : 0
            }
        }
        guard result == LIBDEFLATE_SUCCESS, output.count == size else {
            throw .damaged(result == LIBDEFLATE_BAD_DATA ? .segment : .decodedSize)
        }
        guard used == input.count else { throw .damaged(.trailingBytes) }
        return output
    }
}
