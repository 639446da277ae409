/// One run of bytes, deflated as a whole.
enum Deflate {
    /// One zlib stream (RFC 1950).
    ///
    /// - Parameter input: Non-empty.
    /// - Returns: `nil` if the stream would not be shorter than the input, and at the level `.stored`.
    static func stream(of input: [UInt8], level: CompressionLevel) throws(CompressionError) -> [UInt8]? {
        guard level != .stored else { return nil }
        let compressor = try DeflateCompressor(level: level.value)
        let output = [UInt8](unsafeUninitializedCapacity: input.count - 1) { output, count in
            count = input.withUnsafeBufferPointer {
                compressor.zlib($0, into: UnsafeMutableBufferPointer(rebasing: output[..<(input.count - 1)]))
            }
        }
        return output.isEmpty ? nil : output
    }

    /// One raw deflate stream (RFC 1951).
    ///
    /// - Parameter level: Of libdeflate, 1-12.
    /// - Returns: `nil` if the stream would not be shorter than the input.
    static func raw(of input: [UInt8], level: Int32) throws(CompressionError) -> [UInt8]? {
        let compressor = try DeflateCompressor(level: level)
        let output = [UInt8](unsafeUninitializedCapacity: input.count) { output, count in
            count = input.withUnsafeBufferPointer {
                compressor.raw($0, into: UnsafeMutableBufferPointer(rebasing: output[..<input.count]))
            }
        }
        return output.isEmpty ? nil : output
    }
}
