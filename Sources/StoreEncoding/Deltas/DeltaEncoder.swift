import ShipCompression
package import ShipProtocol
package import StoreFormat

/// Encodes a canonical copy, or any file of pages, as a delta against another one.
///
/// Source: `Protocol/DELTA.md`. Memory: one segment, what sorts the hashes of rows that moved, and some bytes for each leaf of a
/// tree whose rows moved.
package struct DeltaEncoder {
    private let base: any PageSource
    private let new: any PageSource
    private let shapes: [String: IndexShape]?
    private let unchanged: Set<ForeignText>
    private let effort: SegmentEffort
    /// For a store without a base.
    private let wholeEffort: SegmentEffort
    private let makeSpillFile: () throws -> any SpillFile

    /// The largest store, in bytes, whose delta is held until it is known to be smaller than the store.
    private static let smallSize: Int64 = 4 * 1024 * 1024
    /// A delta that takes a smaller part of the store's bytes is not compared with the encoded store, which takes long.
    private static let smallPart: Int64 = 1024
    /// A delta of a larger store is compared with the encoded store when it takes this part of the store's bytes, whenever it has half as
    /// many again, and at the end.
    private static let comparedPart: Int64 = 64

    /// - Parameters:
    ///   - base: The file that the receiver has. Neither file changes meanwhile.
    ///   - new: The file that it will have.
    ///   - shapes: The shapes of the indexes, by their names; `nil` for a file that has no canonical form.
    ///   - unchanged: The tables of which both files are known to have the same rows, which need not be compared.
    package init(
        from base: any PageSource, to new: any PageSource, shapes: [String: IndexShape]?,
        unchanged: Set<ForeignText> = [], effort: SegmentEffort, makeSpillFile: @escaping () throws -> any SpillFile
    ) {
        self.base = base
        self.new = new
        self.shapes = shapes
        self.unchanged = unchanged
        wholeEffort = effort
        var effort = effort
        effort.hasBase = true
        self.effort = effort
        self.makeSpillFile = makeSpillFile
    }

    /// Encodes the delta, and checks that it decodes to the new file.
    ///
    /// - Parameters:
    ///   - limit: Most bytes of all segments together.
    ///   - deliver: Gets the segments in order.
    /// - Throws: `EncodingFailure`, also after the last segment; the errors of the pages and of `deliver`.
    package func encode(limit: Int64 = .max, deliver: @escaping (EncodedSegment) throws -> Void) throws {
        let header = try new.header
        guard let pageSize = try? DatabaseHeader(decoding: header).pageSize else { throw EncodingFailure.unsuitable }
        let check = DeltaBuilder(base: base, pageSize: pageSize, pageCount: new.pageCount) { pageSize in
            PageComparison(with: new, pageSize: pageSize, makeSpillFile: makeSpillFile)
        }
        do {
            try write(limit: limit) { segment in
                try check.append(segment.bytes)
                try deliver(segment)
            }
            try check.finish()
        } catch CompressionError.damaged(.work) {
            // A receiver would refuse it.
            throw EncodingFailure.tooLarge
        } catch CompressionError.damaged {
            throw EncodingFailure.selfCheckFailed
        } catch is StoreFlaw {
            throw EncodingFailure.unsuitable
        }
    }

    /// Encodes the delta of a small store only if it is no larger than the rows of the store. That of a large one goes on as it comes, until
    /// it is larger than the rows.
    ///
    /// - Parameters: As for `encode`.
    /// - Throws: As `encode` does, and `.tooLarge`.
    package func encodeIfSmaller(limit: Int64 = .max, deliver: @escaping (EncodedSegment) throws -> Void) throws {
        let header = try new.header
        let size = Int64(new.pageCount) * Int64((try? DatabaseHeader(decoding: header).pageSize) ?? 0)
        guard size <= Self.smallSize else {
            var (sum, next, isNear) = (0, Int(size / Self.comparedPart), false)
            return try encode(limit: limit) { segment in
                sum += segment.bytes.count
                let isDue = sum > next
                if isDue {
                    next = sum * 3 / 2
                    isNear = try mayWholeBeSmaller(than: next)
                }
                if isNear, isDue || segment.isLast, try isWholeSmaller(than: sum) { throw EncodingFailure.tooLarge }
                try deliver(segment)
            }
        }
        var segments: [EncodedSegment] = []
        try encode(limit: limit) { segments.append($0) }
        let sum = segments.reduce(0) { $0 + $1.bytes.count }
        if Int64(sum) * Self.smallPart > size, try mayWholeBeSmaller(than: sum), try isWholeSmaller(than: sum) {
            throw EncodingFailure.tooLarge
        }
        for segment in segments { try deliver(segment) }
    }

    /// The lowest effort that finds what is there more than once, unless time counts for more.
    private var comparedEffort: SegmentEffort {
        let quick = SegmentEffort(.quick)
        return wholeEffort.deflateLevel < quick.deflateLevel ? wholeEffort : quick
    }

    /// Whether the rows of the store may take fewer bytes than a delta of this size: a low effort takes hardly four times as many bytes, in
    /// a small part of the time.
    private func mayWholeBeSmaller(than size: Int) throws -> Bool {
        guard let shapes else { return false }
        return try StoreWalk.takesLess(than: 4 * size, over: new, shapes, comparedEffort, makeSpillFile)
    }

    /// Whether they do.
    private func isWholeSmaller(than size: Int) throws -> Bool {
        guard let shapes else { return false }
        return try StoreWalk.takesLess(than: size, over: new, shapes, wholeEffort, makeSpillFile)
    }

    private func write(limit: Int64, deliver: @escaping (EncodedSegment) throws -> Void) throws {
        guard let shapes, let store = try baseStore() else { return try writeFile(limit: limit, deliver: deliver) }
        var output = try DeltaOutput(base: store, effort, limit: limit, deliver: deliver)
        var walk = try DeltaWalk(store, try DeltaStore(new), shapes, unchanged, makeSpillFile)
        try walk.run(&output)
        try output.finish()
    }

    /// - Returns: `nil` for a base whose rows cannot be read.
    private func baseStore() throws -> DeltaStore? {
        do {
            return try DeltaStore(base)
        } catch is StoreFlaw {
            return nil
        }
    }

    /// Writes the bytes of the file as pieces that are copied from the base, and new bytes.
    private func writeFile(limit: Int64, deliver: @escaping (EncodedSegment) throws -> Void) throws {
        func bytes(_ pages: any PageSource) throws -> FileBytes {
            let header = try pages.header
            guard let pageSize = try? DatabaseHeader(decoding: header).pageSize else {
                throw EncodingFailure.unsuitable
            }
            return FileBytes(pages, pageSize: pageSize)
        }
        var output = try DeltaOutput(base: nil, effort, limit: limit, deliver: deliver)
        output.write { $0.unsigned(DeltaHead.isFileFlag) }
        try output.write(try bytes(new), by: try PieceSearch(try bytes(base)))
        try output.finish()
    }
}
