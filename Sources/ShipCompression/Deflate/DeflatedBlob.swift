import CZlib

/// Blobs that an app has deflated, as Core Data does with the model that it keeps in a store: raw deflate (RFC 1951), by zlib.
///
/// What is in them can be compared, where they themselves are noise.
enum DeflatedBlob {
    /// The level that is tried.
    private static let level: Int32 = 5
    /// Fewer bytes are taken as they are.
    static let shortest = 64
    /// Most bytes that one stands for.
    static let longest = 1 << 20

    /// - Returns: What a blob stands for; `nil` if it is not one stream to its last byte, or one that stands for too much.
    static func inflated(_ blob: ArraySlice<UInt8>) -> [UInt8]? {
        guard blob.count >= shortest else { return nil }
        var stream = z_stream()
        guard ship_inflate_init_raw(&stream) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        return blob.withUnsafeBufferPointer { blob in
            stream.next_in = UnsafeMutablePointer(mutating: blob.baseAddress)
            stream.avail_in = uInt(blob.count)
            var content: [UInt8] = []
            var result = Z_OK
            var piece = [UInt8](repeating: 0, count: 16_384)
            while result == Z_OK {
                let count = piece.withUnsafeMutableBufferPointer { piece in
                    stream.next_out = piece.baseAddress
                    stream.avail_out = uInt(piece.count)
                    result = inflate(&stream, Z_NO_FLUSH)
                    return piece.count - Int(stream.avail_out)
                }
                content += piece[..<count]
                guard content.count <= longest else { return nil }
            }
            return result == Z_STREAM_END && stream.avail_in == 0 ? content : nil
        }
    }

    /// - Returns: What zlib makes of content at level 5, with a window of 32 KiB and memory level 8; `nil` without memory.
    static func deflated(_ content: ArraySlice<UInt8>) -> [UInt8]? {
        var stream = z_stream()
        guard ship_deflate_init_raw_usual(&stream, level) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        let capacity = Int(deflateBound(&stream, uLong(content.count)))
        var isWhole = false
        let blob = [UInt8](unsafeUninitializedCapacity: capacity) { output, count in
            content.withUnsafeBufferPointer { content in
                stream.next_in = UnsafeMutablePointer(mutating: content.baseAddress)
                stream.avail_in = uInt(content.count)
                stream.next_out = output.baseAddress
                stream.avail_out = uInt(capacity)
                isWhole = deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = capacity - Int(stream.avail_out)
            }
        }
        return isWhole ? blob : nil
    }
}
