/// One run of bytes, deflated as a whole.
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
}
