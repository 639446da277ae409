import ShipCompression
package import StoreFormat

/// Makes a file of the segments of a delta and its base. It does not trust the segments.
///
/// Source: `Protocol/DELTA.md`. Memory: one segment as decoded, two pages a level of the trees that are read and written, what
/// merges and sorts entries, and some bytes for each leaf of a tree whose rows moved.
package final class DeltaBuilder {
    private let base: any PageSource
    private let pageSize: Int
    private let mostPages: UInt32
    private let work: DecodingWork
    private let makeTarget: (_ pageSize: Int) throws -> any StoreBuilder.Target
    private var state = State.awaitingHead
    private var store: DeltaStore?

    private enum State {
        case awaitingHead
        case inTrees(TreeBuilder)
        case inFile(PieceReader, write: (Span<UInt8>) throws -> Void)
        case ended
    }

    /// - Parameters:
    ///   - base: The file that the delta was made against.
    ///   - pageSize: Of the result, in bytes, as the manifest says.
    ///   - pageCount: Most pages to write, as the manifest says.
    package init(
        base: any PageSource, pageSize: Int, pageCount: UInt32, _ work: DecodingWork = DecodingWork(),
        makeTarget: @escaping (_ pageSize: Int) throws -> any StoreBuilder.Target
    ) {
        self.base = base
        self.pageSize = pageSize
        mostPages = pageCount
        self.work = work
        self.makeTarget = makeTarget
    }

    /// Takes the next segment.
    ///
    /// - Throws: `CompressionError.damaged`, and the errors of base and target.
    package func append(_ segment: [UInt8]) throws {
        if case .ended = state { throw CompressionError.damaged(.rows) }
        do {
            try work.measuring(segment: segment) { try take(segment) }
        } catch is StoreFlaw {
            throw CompressionError.damaged(.rows)
        }
    }

    private func take(_ segment: [UInt8]) throws {
        var source = try SegmentReader(ofDelta: segment, work) { try baseStore().dictionary($0, work) }
        if case .awaitingHead = state { state = try begin(&source) }
        switch state {
        case .inTrees(let trees):
            while !source.isAtEnd { try trees.takeItem(&source) }
        case .inFile(var bytes, let write):
            // After an error no segment is taken.
            state = .ended
            while !source.isAtEnd { try bytes.readItem(from: &source, write) }
            state = .inFile(bytes, write: write)
        case .awaitingHead, .ended: break
        }
    }

    /// Completes the file after the last segment.
    ///
    /// - Throws: The errors of `append`.
    package func finish() throws {
        do {
            switch state {
            case .inTrees(let trees): try work.measuring { try trees.finish() }
            case .inFile(let bytes, _) where bytes.left == 0: break
            case .inFile, .awaitingHead, .ended: throw CompressionError.damaged(.rows)
            }
        } catch is StoreFlaw {
            throw CompressionError.damaged(.rows)
        }
        state = .ended
    }

    private func baseStore() throws -> DeltaStore {
        if let store { return store }
        do {
            let store = try DeltaStore(base)
            self.store = store
            work.pay(base: Int64(base.pageCount) * Int64(store.geometry.pageSize))
            return store
        } catch is StoreFlaw {
            throw CompressionError.damaged(.base)
        }
    }

    private func begin(_ source: inout SegmentReader) throws -> State {
        let flags = try source.control.varint()
        guard flags <= DeltaHead.allFlags else { throw CompressionError.damaged(.segment) }
        if flags == DeltaHead.isFileFlag {
            let header = try base.header
            guard let baseSize = try? DatabaseHeader(decoding: header).pageSize else {
                throw CompressionError.damaged(.base)
            }
            let source = FileBytes(base, pageSize: baseSize)
            work.pay(base: source.size)
            let bytes = PieceReader(copying: source, pageSize: baseSize, size: Int64(pageSize) * Int64(mostPages))
            return .inFile(bytes, write: Self.pageWriter(to: try makeTarget(pageSize), pageSize: pageSize))
        }
        guard flags & DeltaHead.isFileFlag == 0 else { throw CompressionError.damaged(.segment) }
        let store = try baseStore()
        let changesSettings = flags & DeltaHead.changesSettingsFlag != 0
        let settings = changesSettings ? try store.settings.changed(from: &source) : store.settings
        guard settings.pageSize == pageSize else { throw CompressionError.damaged(.rows) }
        let change = flags & DeltaHead.changesTreesFlag == 0 ? 0 : try source.control.signed()
        let count = Int64(store.trees.count - 1) &+ change
        guard (0...Int64(SchemaTrees.most)).contains(count) else { throw CompressionError.damaged(.rows) }
        return .inTrees(
            try TreeBuilder(
                store, settings, treeCount: Int(count), mostPages: mostPages, work, to: try makeTarget(pageSize)))
    }

    /// Writes bytes as the pages of a file, which it gathers.
    private static func pageWriter(to target: any StoreBuilder.Target, pageSize: Int) -> (Span<UInt8>) throws -> Void {
        var page: [UInt8] = []
        var number: UInt32 = 1
        return { bytes in
            var place = 0
            while place < bytes.count {
                let count = min(bytes.count - place, pageSize - page.count)
                bytes.extracting(place..<(place + count)).withUnsafeBufferPointer { page.append(contentsOf: $0) }
                place += count
                guard page.count == pageSize else { continue }
                try target.write(page, number: number)
                number += 1
                page.removeAll(keepingCapacity: true)
            }
        }
    }
}
