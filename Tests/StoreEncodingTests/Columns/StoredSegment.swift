import CZlib
import Testing

@testable import StoreEncoding

/// A segment without deflate, so that single bytes of its content can be changed.
enum StoredSegment {
    static func bytes(of segment: [UInt8]) throws -> [UInt8] {
        guard let form = segment.first.map(SegmentForm.init(rawValue:)), form.contains(.deflated) else {
            return segment
        }
        var size = 0
        var place = 1
        repeat {
            size |= Int(segment[place] & 0x7f) << (7 * (place - 1))
            place += 1
        } while segment[place - 1] >= 0x80
        return [form.subtracting(.deflated).rawValue] + (try inflated(Array(segment[place...]), size: size))
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
