import CZlib

/// Raw deflate (RFC 1951) whose matches may reach into bytes before the stream, which both sides have.
///
/// zlib writes it, and not libdeflate, which knows no preset dictionary.
enum PresetDeflate {
    /// Bytes before the stream that a match can reach.
    static let window = 32_768

    /// - Parameter preset: What stands before the stream; its end counts.
    /// - Returns: `nil` if the stream would not be shorter than the input.
    static func stream(of input: [UInt8], after preset: [UInt8]) throws(CompressionError) -> [UInt8]? {
        var stream = z_stream()
        guard ship_deflate_init_raw(&stream, Z_BEST_COMPRESSION) == Z_OK else { throw .outOfMemory }
        defer { deflateEnd(&stream) }
        let window = Array(preset.suffix(Self.window))
        guard deflateSetDictionary(&stream, window, uInt(window.count)) == Z_OK else { throw .outOfMemory }
        var isWhole = false
        let output = [UInt8](unsafeUninitializedCapacity: input.count) { output, count in
            input.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(input.count)
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = input.count - Int(stream.avail_out)
            }
        }
        return isWhole ? output : nil
    }

    /// The bytes behind a stream, which nobody vouches for.
    ///
    /// - Parameters:
    ///   - input: Must be used to its last byte.
    ///   - size: Bytes to come out, exactly.
    static func bytes(
        of input: ArraySlice<UInt8>, after preset: [UInt8], size: Int
    ) throws(CompressionError) -> [UInt8] {
        var stream = z_stream()
        guard ship_inflate_init_raw(&stream) == Z_OK else { throw .outOfMemory }
        defer { inflateEnd(&stream) }
        let window = Array(preset.suffix(Self.window))
        guard inflateSetDictionary(&stream, window, uInt(window.count)) == Z_OK else { throw .outOfMemory }
        var result = Z_DATA_ERROR
        // One more, so that a stream that goes on shows.
        let output = [UInt8](unsafeUninitializedCapacity: size + 1) { output, count in
            input.withUnsafeBufferPointer { input in
                stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(size + 1)
                result = inflate(&stream, Z_FINISH)
                count = size + 1 - Int(stream.avail_out)
            }
        }
        guard result != Z_MEM_ERROR else { throw .outOfMemory }
        guard result == Z_STREAM_END else { throw .damaged(result == Z_BUF_ERROR ? .decodedSize : .segment) }
        guard output.count == size else { throw .damaged(.decodedSize) }
        guard stream.avail_in == 0 else { throw .damaged(.trailingBytes) }
        return output
    }
}
