import ShipCompression

/// Makes a file of the segments of `EncodedSegment.delta` and the base that they name. It does not trust the segments.
///
/// Memory: one segment as decoded.
package final class FileDeltaBuilder: StoreSegmentDecoder {
    /// Bytes of the SHA-256 of the base that name it in the delta.
    package static let nameSize = 8

    /// Bytes that are read at once of a file without pages.
    private static let pageSize = 4096

    private let size: Int64
    private let work: DecodingWork
    private let openSource: (_ name: [UInt8]) throws -> any ByteSource
    private let write: ([UInt8]) throws -> Void
    private var file: PieceReader?
    package private(set) var bytesDone: Int64 = 0

    /// - Parameters:
    ///   - size: Of the file, in bytes, as the manifest says.
    ///   - openSource: Opens the base by the first bytes of its SHA-256. If there is none, it throws
    ///     `CompressionError.damaged(.base)`.
    ///   - write: Gets the bytes of the file in order.
    package init(
        size: Int64, _ work: DecodingWork = DecodingWork(),
        openSource: @escaping (_ name: [UInt8]) throws -> any ByteSource,
        write: @escaping ([UInt8]) throws -> Void
    ) {
        self.size = size
        self.work = work
        self.openSource = openSource
        self.write = write
    }

    package func append(_ segment: [UInt8]) throws {
        try work.measuring(segment: segment) { try take(segment) }
    }

    private func take(_ segment: [UInt8]) throws {
        // A file has no rows that a dictionary could be made of.
        var source = try SegmentReader(ofDelta: segment, work) { _ in throw CompressionError.damaged(.base) }
        var file = try self.file ?? begin(&source)
        self.file = nil
        while !source.isAtEnd {
            try file.readItem(from: &source) { bytes in
                try write(bytes.withUnsafeBufferPointer(Array.init))
                bytesDone += Int64(bytes.count)
            }
        }
        self.file = file
    }

    private func begin(_ source: inout SegmentReader) throws -> PieceReader {
        guard bytesDone == 0, try source.control.varint() == DeltaHead.isFileFlag else {
            throw CompressionError.damaged(.segment)
        }
        let name = source.control.bytes[try source.control.take(Self.nameSize)]
        let base = try openSource(Array(name))
        work.pay(base: base.size)
        return PieceReader(copying: base, pageSize: Self.pageSize, size: size)
    }

    package func finish() throws {
        guard let file, file.left == 0 else { throw CompressionError.damaged(.rows) }
    }
}
