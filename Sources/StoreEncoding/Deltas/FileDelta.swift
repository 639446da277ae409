import ShipCompression

extension EncodedSegment {
    /// Encodes a file of any bytes as a delta against another one, which the delta names, and checks that it decodes to the file.
    ///
    /// Source: `Protocol/DELTA.md` sections 2 and 7. Memory: that of `PieceSearch`, and all segments, as a delta over the limit is not
    /// sent at all.
    ///
    /// - Parameters:
    ///   - base: The file that the receiver has. Neither file changes meanwhile.
    ///   - digest: Its SHA-256.
    ///   - new: The file that it will have.
    ///   - limit: Most bytes of all segments together.
    /// - Throws: `EncodingFailure`, and the errors of the sources.
    package static func delta(
        from base: any ByteSource, _ digest: [UInt8], to new: any ByteSource, effort: SegmentEffort, limit: Int64
    ) throws -> [EncodedSegment] {
        var (segments, compared): ([EncodedSegment], Int64) = ([], 0)
        let check = FileDeltaBuilder(size: new.size) { _ in
            base
        } write: { bytes in
            var expected: [UInt8] = []
            try new.append(compared..<(compared + Int64(bytes.count)), to: &expected)
            guard bytes == expected else { throw EncodingFailure.selfCheckFailed }
            compared += Int64(bytes.count)
        }
        var output = try DeltaOutput(base: nil, effort, limit: limit) { segments.append($0) }
        output.areas.unsigned(DeltaEncoder.isFileFlag)
        output.areas.control += digest.prefix(FileDeltaBuilder.nameSize)
        try output.write(new, from: base)
        try output.finish()
        do {
            for segment in segments { try check.append(segment.bytes) }
            try check.finish()
        } catch is CompressionError {
            throw EncodingFailure.selfCheckFailed
        }
        return segments
    }
}

/// Makes a file of the segments of `EncodedSegment.delta` and the base that they name. It does not trust the segments.
///
/// Memory: one segment as decoded.
package final class FileDeltaBuilder: ColumnsDecoder {
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
    ///   - work: That of the part.
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
        guard bytesDone == 0, try source.control.varint() == DeltaEncoder.isFileFlag else {
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

extension PieceReader {
    /// Reads the next item of the delta of a file. All its items are pieces.
    mutating func readItem(
        from segment: inout SegmentReader, _ take: (Span<UInt8>) throws -> Void
    ) throws {
        try segment.work.spend(DecodingWork.item)
        guard left > 0, try segment.control.varint() == DeltaTag.pieces.rawValue else {
            throw CompressionError.damaged(.rows)
        }
        try read(from: &segment, take)
    }
}
