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
        output.write { areas in
            areas.unsigned(DeltaHead.isFileFlag)
            areas.control += digest.prefix(FileDeltaBuilder.nameSize)
        }
        try output.write(new, by: try PieceSearch(base))
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

extension PieceReader {
    /// Reads the next item of the delta of a file. All its items are pieces.
    mutating func readItem(from segment: inout SegmentReader, _ take: (Span<UInt8>) throws -> Void) throws {
        try segment.work.spend(DecodingWork.item)
        guard left > 0, try segment.control.varint() == DeltaTag.pieces.rawValue else {
            throw CompressionError.damaged(.rows)
        }
        try read(from: &segment, take)
    }
}
