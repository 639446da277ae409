import CZlib

/// Blobs that an app has deflated, as Core Data does with the model that it keeps in a store: raw deflate (RFC 1951).
///
/// What is in them can be compared, where they themselves are noise.
enum DeflatedBlob {
    /// Fewer bytes are taken as they are.
    static let shortest = 64
    /// Most bytes that one stands for.
    static let longest = 1 << 20

    /// - Returns: What a blob stands for; `nil` if it is not one stream to its last byte, or one that stands for too much.
    static func inflated(_ blob: ArraySlice<UInt8>) -> [UInt8]? {
        guard let (content, end) = stream(in: blob), end == blob.endIndex else { return nil }
        return content
    }

    /// The stream with which a blob begins.
    ///
    /// - Returns: What it stands for, and the place behind its last byte; `nil` if there is none, or one that stands for too much.
    static func stream(in blob: ArraySlice<UInt8>) -> (content: [UInt8], end: Int)? {
        guard blob.count >= shortest else { return nil }
        var stream = z_stream()
        guard ship_inflate_init_raw(&stream) == Z_OK else { return nil }
        defer { inflateEnd(&stream) }
        return blob.withUnsafeBufferPointer { bytes in
            stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            stream.avail_in = uInt(bytes.count)
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
            return result == Z_STREAM_END ? (content, blob.endIndex - Int(stream.avail_in)) : nil
        }
    }
}
