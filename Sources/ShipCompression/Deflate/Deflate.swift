#if Libdeflate
    import CDeflate
#endif

/// One run of bytes, deflated as a whole, and back.
enum Deflate {
    /// One zlib stream (RFC 1950).
    ///
    /// - Parameter input: Non-empty.
    /// - Returns: `nil` if the stream would not be shorter than the input, and at the level `.stored`.
    static func stream(of input: [UInt8], level: CompressionLevel) throws(CompressionError) -> [UInt8]? {
        guard level != .stored else { return nil }
        return deflated(input, by: try DeflateCompressor(.zlib, level: level.value), atMost: input.count - 1)
    }

    /// One raw deflate stream (RFC 1951).
    ///
    /// - Parameter level: Of libdeflate, 1-12.
    /// - Returns: `nil` if the stream would be longer than the input.
    static func raw(of input: [UInt8], level: Int32) throws(CompressionError) -> [UInt8]? {
        deflated(input, by: try DeflateCompressor(.raw, level: level), atMost: input.count)
    }

    private static func deflated(
        _ input: [UInt8], by compressor: borrowing DeflateCompressor, atMost size: Int
    ) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: size)
        let count = output.withUnsafeMutableBufferPointer { output in
            input.withUnsafeBufferPointer { compressor.deflate($0, into: output) }
        }
        guard count > 0 else { return nil }
        output.removeSubrange(count...)
        return output
    }

    /// The bytes behind one raw deflate stream, which nobody vouches for.
    ///
    /// - Parameters:
    ///   - input: Must be used to its last byte.
    ///   - size: Bytes to come out, exactly.
    static func bytes(ofRaw input: ArraySlice<UInt8>, size: Int) throws(CompressionError) -> [UInt8] {
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
