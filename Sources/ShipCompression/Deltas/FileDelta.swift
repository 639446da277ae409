/// A file of any bytes into a delta against another one, which the delta names.
///
/// Source: `Protocol/DELTA.md` sections 2 and 7. Memory: that of `PieceSearch`, and all segments, as the receiver hears nothing of a
/// delta that is not worth it.
package struct FileDeltaEncoder {
    /// Bytes of the SHA-256 of the source by which a delta names it.
    package static let nameSize = 8

    private let base: any ByteSource
    private let name: [UInt8]
    private let new: any ByteSource
    private let effort: SegmentEffort

    /// - Parameters:
    ///   - base: What the receiver has. Nobody changes either meanwhile.
    ///   - digest: Its SHA-256.
    ///   - new: What it is to have.
    package init(from base: any ByteSource, _ digest: [UInt8], to new: any ByteSource, effort: SegmentEffort) {
        self.base = base
        name = Array(digest.prefix(Self.nameSize))
        self.new = new
        self.effort = effort
    }

    /// Encodes the delta, and decodes it again.
    ///
    /// - Parameters:
    ///   - limit: Bytes of all segments, at most.
    ///   - deliver: Takes one segment after the other, the last one as such, once all of them are there.
    /// - Throws: `DeltaFailure`, what the sources and `deliver` throw.
    package func encode(
        limit: Int64, deliver: (EncodedSegment, EncodedSegment.Position) throws -> Void
    ) throws {
        var (segments, compared): ([EncodedSegment], Int64) = ([], 0)
        let check = FileDeltaBuilder(size: new.size) { _ in
            base
        } write: { bytes in
            var expected: [UInt8] = []
            try new.append(compared..<(compared + Int64(bytes.count)), to: &expected)
            guard bytes == expected else { throw DeltaFailure.selfCheckFailed }
            compared += Int64(bytes.count)
        }
        var output = try DeltaOutput(base: nil, effort, limit: limit) { segment, _ in segments.append(segment) }
        output.writer.areas.unsigned(DeltaHead.isFile)
        output.writer.areas.control += name
        try output.write(new, from: base)
        try output.finish()
        do {
            for segment in segments { try check.append(segment.bytes) }
            try check.finish()
        } catch is CompressionError {
            throw DeltaFailure.selfCheckFailed
        }
        for (index, segment) in segments.enumerated() {
            try deliver(segment, index == segments.count - 1 ? .last : .more)
        }
    }
}

/// The segments of such a delta, and the file that they name, into bytes. It reads what nobody vouches for.
///
/// Memory: one segment as decoded.
package final class FileDeltaBuilder: ColumnsDecoder {
    private let size: Int64
    private let openSource: (_ name: [UInt8]) throws -> any ByteSource
    private let write: ([UInt8]) throws -> Void
    private var file: FileMaker?
    package private(set) var bytesDone: Int64 = 0

    /// - Parameters:
    ///   - size: Of the file, in bytes: what the manifest says.
    ///   - openSource: Finds what the delta is over by the first bytes of its SHA-256. For what is not there it throws
    ///     `CompressionError.damaged(.base)`.
    ///   - write: Takes the bytes of the file, from the first to the last.
    package init(
        size: Int64, openSource: @escaping (_ name: [UInt8]) throws -> any ByteSource,
        write: @escaping ([UInt8]) throws -> Void
    ) {
        self.size = size
        self.openSource = openSource
        self.write = write
    }

    package func append(_ segment: [UInt8]) throws {
        // There are no rows that a segment could refer to.
        var source = try SegmentSource(ofDelta: segment) { _ in throw CompressionError.damaged(.base) }
        var file = try self.file ?? begin(&source)
        self.file = nil
        var room = SegmentRoom()
        while !source.isAtEnd {
            try file.takePiece(&source, &room) { bytes in
                try write(bytes.withUnsafeBufferPointer(Array.init))
                bytesDone += Int64(bytes.count)
            }
        }
        self.file = file
    }

    private func begin(_ source: inout SegmentSource) throws -> FileMaker {
        guard bytesDone == 0, try source.control.varint() == DeltaHead.isFile else {
            throw CompressionError.damaged(.segment)
        }
        let name = source.control.bytes[try source.control.take(FileDeltaEncoder.nameSize)]
        return FileMaker(try openSource(Array(name)), size: size)
    }

    package func finish() throws {
        guard let file else { throw CompressionError.damaged(.rows) }
        try file.finish()
    }
}

/// Pieces into the bytes of a file.
struct FileMaker {
    private let source: any ByteSource
    private var left: Int64
    /// Where the last copy ended.
    private var end: Int64 = 0

    /// - Parameter size: Of the file, in bytes.
    init(_ source: any ByteSource, size: Int64) {
        self.source = source
        left = size
    }

    mutating func takePiece(
        _ segment: inout SegmentSource, _ room: inout SegmentRoom, _ take: (Span<UInt8>) throws -> Void
    ) throws {
        guard left > 0, try segment.control.varint() == DeltaTag.piece.rawValue else {
            throw CompressionError.damaged(.rows)
        }
        try BytePiece.read(
            from: &segment, copying: source, left: &left, after: &end, contentLeft: &room.content, take)
    }

    func finish() throws {
        guard left == 0 else { throw CompressionError.damaged(.rows) }
    }
}
