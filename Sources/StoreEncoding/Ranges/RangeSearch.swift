import ShipCompression
import ShipProtocol
package import StoreFormat

/// The producer's side of a search for the rows that its store has in common with one that only the consumer has.
///
/// It asks for the digests of ever smaller ranges where those of larger ones differ.
///
/// Source: `Protocol/RANGES.md`. Memory: as `RangeDigests`, and some bytes for each range of the last answer.
package final class RangeSearch {
    /// Most ranges of a tree that are asked for first.
    private static let mostAtFirst = 64
    /// With so many ranges that differ, or fewer, it pays to save a round.
    private static let fewRanges = 64
    /// Digests may take this part of the store's bytes; while next to nothing was found to be in common, that; and of a small store so
    /// many bytes.
    private static let (share, shareOfNothing, least): (Int64, Int64, Int64) = (64, 320, 4096)
    /// So many times the bytes of digests the whole store has to take, at the least effort, which gives hardly twice as many as another.
    private static let timesOfDigests = 4
    /// Digests of so few bytes are not compared with the whole store, which takes a moment.
    private static let fewBytes: Int64 = 1024
    /// While less than this part of the bytes is known to be in common, that is next to nothing.
    private static let nothing: Int64 = 64
    /// With less than this part in common the whole store is as good.
    private static let leastShared: Int64 = 8

    private let store: DeltaStore
    private let shapes: [String: IndexShape]
    private let nonce: [UInt8]
    private let size: Int64
    private var digests: RangeDigests?
    private var base: (settings: StoreSettings, treeCount: Int)?
    private var trees: [Tree] = []
    private var asked: [RangeRequest.Tree] = []
    private var (requests, spent) = (0, Int64(0))
    /// The whole store is known to take so many bytes at the least effort.
    private var least = 0
    /// Bytes of records, without those of indexes that follow from their tables; and about how many of them both have.
    private var (allBytes, sharedBytes) = (Int64(0), Int64(0))
    /// The rows that were found, once the search is over; `nil` if it is not worth a delta.
    package private(set) var shared: SharedRows?

    private struct Tree {
        let place: Int
        let base: Int
        let isNamed: Bool
        let baseCount: Int
        /// Bytes of a record in the mean.
        let rowSize: Int64
        var level = RangeDigests.highestLevel + 1
        var parts: [Part]
        /// Rows of the base that the consumer has not counted yet.
        var uncounted: Int
        /// Whether most of the ranges that were told last differ.
        var isMostlyOther = false
    }

    private enum Part {
        case same(Int)
        case other(old: Int, new: Range<Int>)
        /// Rows of the consumer, in whose place the store has these rows.
        case open([Theirs], new: Range<Int>)

        /// - Parameter isLast: Whether each range is one row, so that nothing more can be told.
        init(theirs: [Theirs], new: Range<Int>, isLast: Bool) {
            var (rows, pieces) = (0, [Theirs]())
            for piece in theirs {
                switch (piece, pieces.last) {
                case (.ranges(let range, _), .ranges(let before, _)?) where before.upperBound == range.lowerBound:
                    pieces[pieces.count - 1] = .ranges(before.lowerBound..<range.upperBound, nil)
                default: pieces.append(piece)
                }
                switch piece {
                case .ranges(let range, _): rows += range.count
                case .counted(let count): rows += count
                }
            }
            let isKnown = isLast || pieces.allSatisfy(\.isCounted)
            self = isKnown ? .other(old: rows, new: new) : .open(pieces, new: new)
        }
    }

    private enum Theirs {
        /// Ranges of the last answer; the digest of a single one.
        case ranges(Range<Int>, UInt32?)
        case counted(Int)

        var isCounted: Bool { if case .counted = self { true } else { false } }
        var digest: UInt32? { if case .ranges(_, let digest) = self { digest } else { nil } }
    }

    /// - Parameters:
    ///   - pages: The store that goes to the consumer, in canonical form.
    ///   - shapes: Of its indexes, by their names.
    ///   - nonce: 16 bytes, which nobody can know before.
    /// - Throws: `StoreFlaw`, and what `pages` throws.
    package init(_ pages: any PageSource, shapes: [String: IndexShape], nonce: [UInt8]) throws {
        store = try DeltaStore(pages)
        self.shapes = shapes
        self.nonce = nonce
        size = Int64(pages.pageCount) * Int64(store.geometry.pageSize)
    }

    /// The first request.
    package func begin() -> [UInt8] {
        requests = 1
        return RangeRequest.trees(nonce: nonce).encoded
    }

    /// Takes an answer.
    ///
    /// - Returns: The next request; `nil` if the search is over.
    /// - Throws: `CompressionError.damaged`, `StoreFlaw` for an answer that breaks a rule; what the pages throw.
    package func next(after answer: [UInt8]) throws -> [UInt8]? {
        spent += Int64(answer.count)
        guard !answer.isEmpty else { return nil }
        if digests == nil {
            guard try take(RangeTrees(decoding: answer)) else { return nil }
        } else {
            try take(answer)
        }
        guard allBytes > 0 else { return nil }
        if let request = try plan() { return request }
        finish()
        return nil
    }

    private var isUseful: Bool { sharedBytes >= allBytes / Self.leastShared }

    private func finish() {
        guard let base, isUseful else { return }
        var found = [SharedRows.Tree?](repeating: nil, count: store.trees.count)
        for tree in trees {
            let parts = tree.parts.compactMap { part -> SharedRows.Part? in
                switch part {
                case .same(let count): .same(count)
                case .other(let old, let new): .other(old: old, new: new.count)
                case .open: nil
                }
            }
            guard parts.count == tree.parts.count else { return }
            found[tree.place] = SharedRows.Tree(
                base: tree.base, isNamed: tree.isNamed, baseCount: tree.baseCount, parts: parts)
        }
        shared = SharedRows(settings: base.settings, treeCount: base.treeCount, trees: found)
    }

    // MARK: Answers

    /// - Returns: Whether the stores can be compared.
    private func take(_ theirs: RangeTrees) throws -> Bool {
        let (new, old) = (store.settings, theirs.settings)
        guard new.integers == old.integers, max(1, new.textEncoding) == max(1, old.textEncoding),
            store.trees.count <= RangeRequest.mostTrees
        else { return false }
        let digests = RangeDigests(store, (producer: nonce, consumer: theirs.nonce))
        self.digests = digests
        base = (old, theirs.trees.count)
        // The tree of the schema is that of theirs, and no other's, also if a table has its name, which is empty, or its rows.
        func places<Key: Hashable>(by key: (RangeTrees.Tree) -> Key) -> [Key: Int] {
            Dictionary(theirs.trees.enumerated().dropFirst().map { (key($1), $0) }) { first, _ in first }
        }
        let (names, rows) = (places { $0.name }, places { $0.rows })
        for place in store.trees.indices {
            let (whole, size) = try digests.whole(place)
            let isCounted = !follows(place)
            if isCounted { allBytes += size }
            let named = place == 0 ? theirs.trees.indices.first : names[try digests.name(of: place)]
            // A table that was renamed has the rows of another one.
            let isAsNamed = named.map { theirs.trees[$0].rows == whole } ?? false
            let same = isAsNamed ? named : place > 0 && whole.count > 0 ? rows[whole] : nil
            if same != nil, isCounted { sharedBytes += size }
            guard let found = same ?? named else { continue }
            let count = theirs.trees[found].rows.count
            let part: Part =
                if same != nil {
                    .same(count)
                } else if count == 0 || whole.count == 0 || !isCounted {
                    .other(old: count, new: 0..<whole.count)
                } else {
                    .open([.ranges(0..<1, nil)], new: 0..<whole.count)
                }
            trees.append(
                Tree(
                    place: place, base: found, isNamed: found == named, baseCount: count,
                    rowSize: size / Int64(max(1, whole.count)), parts: [part], uncounted: count))
        }
        trees.sort { $0.base < $1.base }
        return true
    }

    /// Whether a tree is an index whose entries most likely follow from the rows of its table: then they do not go.
    private func follows(_ place: Int) -> Bool {
        let tree = store.trees[place]
        guard !tree.isTable, tree.index < IndexShape.mostOfTable else { return false }
        return store.shape(of: place, among: shapes) != nil
    }

    private func take(_ answer: [UInt8]) throws {
        guard let digests else { return }
        var cursor = AreaCursor(answer)
        for request in asked {
            guard let index = trees.firstIndex(where: { $0.isNamed && $0.base == request.place }) else { continue }
            var tree = trees[index]
            var (parts, told, equal) = ([Part](), 0, 0)
            var asked = request.parts.makeIterator()
            for part in tree.parts {
                guard case .open(let theirs, let new) = part else {
                    parts.append(part)
                    continue
                }
                let before = told
                let rows = try theirs.flatMap { try Self.told($0, &asked, &told, &tree.uncounted, &cursor) }
                guard told > before else {
                    parts.append(Part(theirs: rows, new: new, isLast: true))
                    continue
                }
                let ours = try digests.ranges(of: tree.place, in: new, level: request.level) ?? []
                let pairs = RangeAlignment.pairs(rows.map(\.digest), ours.map(\.digest))
                parts += Self.parts(rows, ours, pairs, new: new, isLast: request.level == 0)
                equal += pairs.count
                sharedBytes += tree.rowSize * Int64(pairs.reduce(0) { $0 + ours[$1.ours].count })
            }
            tree.parts = parts
            tree.level = request.level
            tree.isMostlyOther = 4 * equal < told
            trees[index] = tree
        }
        guard cursor.left == 0 else { throw CompressionError.damaged(.segment) }
    }

    /// The consumer's answers about ranges that were asked for.
    ///
    /// - Parameters:
    ///   - told: How many ranges of the tree it has told before.
    ///   - uncounted: Rows that it may count: all that it counts are no more than the tree has.
    private static func told(
        _ theirs: Theirs, _ asked: inout IndexingIterator<[RangeRequest.Part]>, _ told: inout Int,
        _ uncounted: inout Int, _ cursor: inout AreaCursor
    ) throws(CompressionError) -> [Theirs] {
        guard case .ranges = theirs, let part = asked.next() else { return [theirs] }
        guard !part.isCountOnly else {
            let count = try cursor.count(limit: uncounted)
            uncounted -= count
            return [.counted(count)]
        }
        return try RangeList.digests(&cursor).map { digest in
            told += 1
            return .ranges(told - 1..<told, digest)
        }
    }

    private static func parts(
        _ theirs: [Theirs], _ ours: [RowRange], _ pairs: [RangeAlignment.Pair], new: Range<Int>, isLast: Bool
    ) -> [Part] {
        var parts: [Part] = []
        var (their, our, row) = (0, 0, new.lowerBound)
        func close(_ theirEnd: Int, _ ourEnd: Int) {
            let rows = row..<row + ours[our..<ourEnd].reduce(0) { $0 + $1.count }
            if !rows.isEmpty || their < theirEnd {
                parts.append(Part(theirs: Array(theirs[their..<theirEnd]), new: rows, isLast: isLast))
            }
            (their, our, row) = (theirEnd, ourEnd, rows.upperBound)
        }
        for pair in pairs {
            close(pair.theirs, pair.ours)
            let count = ours[our].count
            if case .same(let before)? = parts.last {
                parts[parts.count - 1] = .same(before + count)
            } else {
                parts.append(.same(count))
            }
            (their, our, row) = (their + 1, our + 1, row + count)
        }
        close(theirs.count, ours.count)
        return parts
    }

    // MARK: Requests

    /// - Returns: `nil` if nothing is to be asked any more, or it is not worth it.
    private func plan() throws -> [UInt8]? {
        guard requests < Limits.comparisons else { return nil }
        let part = sharedBytes < allBytes / Self.nothing ? Self.shareOfNothing : Self.share
        let left = max(Self.least, size / part) - spent
        var budget = left
        asked = trees.indices.compactMap { plan(&trees[$0], &budget) }
        let isSearching = asked.contains { $0.parts.contains { !$0.isCountOnly } }
        guard !asked.isEmpty, isSearching || isUseful, try isWorth(spent + left - budget) else { return nil }
        let request = RangeRequest.ranges(asked).encoded
        guard request.count <= Limits.comparisonSize else { return nil }
        requests += 1
        spent += Int64(request.count)
        return request
    }

    /// Whether digests of so many bytes are few beside the whole store as it would go.
    private func isWorth(_ bytes: Int64) throws -> Bool {
        let most = Int(clamping: bytes) * Self.timesOfDigests
        guard bytes > Self.fewBytes, most > least else { return true }
        if try StoreWalk.takesLess(than: most, over: store.pages, shapes, SegmentEffort(.fastest)) { return false }
        least = most
        return true
    }

    private func plan(_ tree: inout Tree, _ budget: inout Int64) -> RangeRequest.Tree? {
        var request = RangeRequest.Tree(place: tree.base, level: 0)
        var (rows, ranges) = (0, 0)
        for (index, part) in tree.parts.enumerated() {
            guard case .open(let theirs, let new) = part else { continue }
            let asked = theirs.flatMap { piece -> [RangeRequest.Part?] in
                guard case .ranges(let ranges, _) = piece else { return [nil] }
                return Self.split(ranges, beside: new.count, level: tree.level)
            }
            rows += new.count
            for case let part? in asked where !part.isCountOnly { ranges += part.ranges.count }
            request.parts += asked.compactMap(\.self)
            // What was counted before stays among what is asked.
            var counted = theirs.filter { $0.isCounted }[...]
            tree.parts[index] = .open(
                asked.compactMap { $0.map { .ranges($0.ranges, nil) } ?? counted.popFirst() }, new: new)
        }
        guard !request.parts.isEmpty else { return nil }
        guard ranges > 0 else { return request }
        func cost(_ level: Int) -> Int64 { Int64(4 * (rows >> (2 * level) + ranges)) }
        if let level = levels(of: tree, ranges).first(where: { cost($0) <= budget }) {
            budget -= cost(level)
            request.level = level
        } else {
            request.parts = request.parts.map { RangeRequest.Part(ranges: $0.ranges, isCountOnly: true) }
        }
        return request
    }

    /// Which of the consumer's ranges to ask about, and which have only to be counted because nothing here can match them: of many ranges
    /// beside few rows those in the middle have gone.
    ///
    /// - Parameters:
    ///   - rows: How many rows are here in their place.
    ///   - level: Of these ranges.
    private static func split(_ ranges: Range<Int>, beside rows: Int, level: Int) -> [RangeRequest.Part] {
        guard rows > 0 else { return [RangeRequest.Part(ranges: ranges, isCountOnly: true)] }
        let edge = 1 + rows >> (2 * level)
        guard ranges.count > 2 * edge else { return [RangeRequest.Part(ranges: ranges, isCountOnly: false)] }
        let (first, last) = (ranges.lowerBound + edge, ranges.upperBound - edge)
        return [
            RangeRequest.Part(ranges: ranges.lowerBound..<first, isCountOnly: false),
            RangeRequest.Part(ranges: first..<last, isCountOnly: true),
            RangeRequest.Part(ranges: last..<ranges.upperBound, isCountOnly: false),
        ]
    }

    /// The levels that may come next, the best first: all others have to have room in the requests that are left.
    private func levels(of tree: Tree, _ ranges: Int) -> [Int] {
        let left = Limits.comparisons - requests
        if tree.level > RangeDigests.highestLevel {
            let first = (0...RangeDigests.highestLevel).first { tree.baseCount >> (2 * $0) <= Self.mostAtFirst }
            return [first ?? RangeDigests.highestLevel]
        }
        guard tree.level > 0 else { return [] }
        let least = (tree.level + left - 1) / left
        let best = max(least, tree.isMostlyOther || ranges <= Self.fewRanges ? 2 : 1)
        return (least...best).reversed().map { max(0, tree.level - $0) }
    }
}
