package import StoreFormat

/// A canonical copy, or any file of pages, into a delta against another one.
///
/// Source: `Protocol/DELTA.md`. Memory: one segment, what sorts the hashes of rows that moved, and some bytes for each leaf of a
/// tree whose rows moved.
package struct DeltaEncoder {
    private let base: any PageSource
    private let new: any PageSource
    private let shapes: [String: IndexShape]?
    private let effort: SegmentEffort
    private let makeSpillFile: () throws -> any SpillFile

    /// - Parameters:
    ///   - base: What the receiver has. Nobody changes either meanwhile.
    ///   - new: What it is to have.
    ///   - shapes: What the entries of indexes are made of, by the names of the indexes; `nil` for a file that has no canonical
    ///     form.
    package init(
        from base: any PageSource, to new: any PageSource, shapes: [String: IndexShape]?, effort: SegmentEffort,
        makeSpillFile: @escaping () throws -> any SpillFile
    ) {
        self.base = base
        self.new = new
        self.shapes = shapes
        var effort = effort
        effort.hasBase = true
        self.effort = effort
        self.makeSpillFile = makeSpillFile
    }

    /// Encodes the delta, and decodes it again.
    ///
    /// - Parameters:
    ///   - limit: Bytes of all segments, at most.
    ///   - deliver: Takes one segment after the other, the last one as such.
    /// - Throws: `DeltaFailure`, also after the last segment; what the pages and `deliver` throw.
    package func encode(
        limit: Int64 = .max, deliver: @escaping (EncodedSegment, EncodedSegment.Position) throws -> Void
    ) throws {
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        try new.read(1, into: &header)
        guard let pageSize = try? DatabaseHeader(decoding: header).pageSize else { throw DeltaFailure.unsuitable }
        let check = DeltaBuilder(base: base, pageSize: pageSize, pageCount: new.pageCount) { pageSize in
            PageComparison(with: new, pageSize: pageSize, makeSpillFile: makeSpillFile)
        }
        do {
            try write(limit: limit) { segment, position in
                try check.append(segment.bytes)
                try deliver(segment, position)
            }
            try check.finish()
        } catch is PageComparison.Mismatch {
            throw DeltaFailure.selfCheckFailed
        } catch CompressionError.damaged {
            throw DeltaFailure.selfCheckFailed
        } catch is StoreFlaw {
            throw DeltaFailure.unsuitable
        }
    }

    private func write(
        limit: Int64, deliver: @escaping (EncodedSegment, EncodedSegment.Position) throws -> Void
    ) throws {
        guard let shapes, let store = try baseStore() else { return try writeFile(limit: limit, deliver: deliver) }
        var output = try DeltaOutput(base: store, effort, limit: limit, deliver: deliver)
        var walk = DeltaWalk(store, try DeltaStore(new), shapes, effort, makeSpillFile)
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

    /// All bytes of the file, as they can be made of those of the base.
    private func writeFile(
        limit: Int64, deliver: @escaping (EncodedSegment, EncodedSegment.Position) throws -> Void
    ) throws {
        func bytes(_ pages: any PageSource) throws -> FileBytes {
            var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
            try pages.read(1, into: &header)
            guard let pageSize = try? DatabaseHeader(decoding: header).pageSize else { throw DeltaFailure.unsuitable }
            return FileBytes(pages, pageSize: pageSize)
        }
        var output = try DeltaOutput(base: nil, effort, limit: limit, deliver: deliver)
        output.writer.areas.unsigned(DeltaHead.isFile)
        try output.write(try bytes(new), from: try bytes(base))
        try output.finish()
    }
}
