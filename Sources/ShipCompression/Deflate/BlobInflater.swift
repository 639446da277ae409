import CZlib

/// Inflates blobs that an app may have deflated, one after the other, in memory that it keeps.
///
/// Most blobs are no streams: zlib turns them away at their first bytes, so that no attempt may take memory of its own.
package final class BlobInflater {
    /// The most bytes that a blob may stand for.
    private static let longestContent = 1 << 20
    /// To begin to inflate a blob takes about as long as to inflate this many bytes.
    private static let leastCost = 256
    private static let pieceSize = 16_384

    /// On the heap, because zlib keeps its address.
    private let stream: UnsafeMutablePointer<z_stream>
    /// Where content comes out, piece by piece.
    private let piece: UnsafeMutablePointer<UInt8>

    /// - Returns: `nil` if there is no memory.
    package init?() {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        guard ship_inflate_init_raw(stream) == Z_OK else {
            stream.deallocate()
            return nil
        }
        self.stream = stream
        piece = .allocate(capacity: Self.pieceSize)
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        piece.deallocate()
    }

    /// The content of a blob that is one raw stream (RFC 1951) to its last byte.
    ///
    /// - Parameter budget: Bytes that may be inflated; the function subtracts what it inflates.
    /// - Returns: `nil` if it is none, or stands for too much.
    package func content(of blob: ArraySlice<UInt8>, within budget: inout Int) -> [UInt8]? {
        guard let (content, end) = beginning(of: blob, within: &budget), end == blob.endIndex else { return nil }
        return content
    }

    /// The raw stream with which a blob begins.
    ///
    /// - Parameter budget: Bytes that may be inflated; the function subtracts what it inflates.
    /// - Returns: What the stream stands for, and the place behind its last byte; `nil` if there is none, or it stands for too much.
    func beginning(of blob: ArraySlice<UInt8>, within budget: inout Int) -> (content: [UInt8], end: Int)? {
        guard blob.count >= Deflate.shortestBlob, budget > 0 else { return nil }
        budget -= Self.leastCost
        return blob.withUnsafeBufferPointer { bytes in
            guard Self.mayBeStream(bytes), inflateReset(stream) == Z_OK else { return nil }
            stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
            stream.pointee.avail_in = uInt(bytes.count)
            var content: [UInt8] = []
            var result = Z_OK
            repeat {
                stream.pointee.next_out = piece
                stream.pointee.avail_out = uInt(Self.pieceSize)
                // With this zlib takes no window for what ends within one piece. It says `Z_BUF_ERROR` if it needs another.
                result = inflate(stream, Z_FINISH)
                let count = Self.pieceSize - Int(stream.pointee.avail_out)
                budget -= min(count, Self.longestContent + 1 - content.count)
                content += UnsafeBufferPointer(start: piece, count: count)
                guard content.count <= Self.longestContent, budget >= 0 else { return nil }
            } while result == Z_BUF_ERROR && stream.pointee.avail_out == 0
            return result == Z_STREAM_END ? (content, blob.endIndex - Int(stream.pointee.avail_in)) : nil
        }
    }

    /// Whether zlib would go on behind the head of the first block.
    ///
    /// Source: RFC 1951 3.2.3, 3.2.4 and 3.2.7: of the types, and of each count of codes, one or two values stand for nothing.
    ///
    /// - Parameter blob: At least `Deflate.shortestBlob` bytes.
    private static func mayBeStream(_ blob: UnsafeBufferPointer<UInt8>) -> Bool {
        switch DeflateBlockKind(rawValue: UInt64(blob[0] >> 1 & 3)) {
        case .stored: blob[1] ^ blob[3] == 0xff && blob[2] ^ blob[4] == 0xff
        case .fixed: true
        case .dynamic: blob[0] >> 3 < 30 && blob[1] & 0x1f < 30
        case nil: false
        }
    }
}

extension Deflate {
    /// A blob of fewer bytes is taken as it is.
    package static let shortestBlob = 64

    /// Apps deflate blobs, as Core Data does with the model that it keeps in a store. Their contents can be compared; deflated blobs are
    /// noise.
    ///
    /// - Returns: What a blob stands for; `nil` if it is not one raw stream to its last byte, or stands for too much.
    package static func content(ofBlob blob: ArraySlice<UInt8>) -> [UInt8]? {
        var budget = Int.max
        return BlobInflater()?.content(of: blob, within: &budget)
    }
}
