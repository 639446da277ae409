import CZlib
import Testing

/// A segment without deflate, so that single bytes of its content can be changed.
enum StoredSegment {
    static func bytes(of segment: [UInt8]) throws -> [UInt8] {
        // Each form that is deflated comes after the one that is not: 1 after 0, and with runs 4 after 3.
        guard let form = segment.first, form == 1 || form == 4 else { return segment }
        var size = 0
        var place = 1
        repeat {
            size |= Int(segment[place] & 0x7f) << (7 * (place - 1))
            place += 1
        } while segment[place - 1] >= 0x80
        return [form - 1] + (try inflated(Array(segment[place...]), size: size))
    }

    private static func inflated(_ deflated: [UInt8], size: Int) throws -> [UInt8] {
        var stream = z_stream()
        try #require(inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK)
        defer { inflateEnd(&stream) }
        var (input, output) = (deflated, [UInt8](repeating: 0, count: size))
        let status = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = uInt(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(output.count)
                return inflate(&stream, Z_FINISH)
            }
        }
        try #require(status == Z_STREAM_END && stream.avail_out == 0)
        return output
    }
}
