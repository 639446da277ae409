#if Libdeflate
    import CDeflate
#endif

/// The bytes behind one raw deflate stream, which nobody vouches for.
enum RawInflate {
    /// - Parameters:
    ///   - input: Must be used to its last byte.
    ///   - size: Bytes to come out, exactly.
    static func bytes(of input: ArraySlice<UInt8>, size: Int) throws(CompressionError) -> [UInt8] {
        #if Libdeflate
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
        #else
            return try PresetDeflate.bytes(of: input, after: [], size: size)
        #endif
    }
}
