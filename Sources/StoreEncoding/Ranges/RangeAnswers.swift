import ShipCompression
import ShipProtocol
package import StoreFormat

/// The consumer's side of a search for the rows that its store has in common with one that only the producer has.
///
/// Source: `Protocol/RANGES.md`. Memory: as `RangeDigests`, and 8 bytes for each range of the last answer.
package final class RangeAnswers {
    private let store: DeltaStore
    private let nonce: [UInt8]
    private var digests: RangeDigests?
    /// Of each tree: where the ranges of the last answer begin and end.
    private var lists: [[Range<Int>]] = []
    private var levels: [Int] = []
    /// How many bytes all answers may still have.
    private var left: Int

    /// Of the bytes of a store answers may have this part, and of a small one this many.
    private static let (share, least): (Int64, Int64) = (50, 16_384)

    /// - Parameters:
    ///   - pages: The store that the consumer holds, in canonical form. It does not change.
    ///   - nonce: 16 bytes, which nobody can know before.
    /// - Throws: `StoreFlaw`, and what `pages` throws.
    package init(_ pages: any PageSource, nonce: [UInt8]) throws {
        store = try DeltaStore(pages)
        self.nonce = nonce
        let size = Int64(pages.pageCount) * Int64(store.geometry.pageSize)
        left = Int(max(Self.least, size / Self.share))
    }

    /// 16 bytes that nobody can know before.
    package static func makeNonce() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<RangeDigests.nonceSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    /// Answers a request.
    ///
    /// - Returns: Nothing if the answers would be too long: then the search is over.
    /// - Throws: `CompressionError.damaged` for a request that breaks a rule; `StoreFlaw`, and what the pages throw.
    package func answer(_ request: [UInt8]) throws -> [UInt8] {
        let answer: [UInt8]?
        switch try RangeRequest(decoding: request, isFirst: digests == nil) {
        case .trees(let nonce): answer = try trees(nonce)
        case .ranges(let trees): answer = try ranges(trees)
        }
        guard let answer, answer.count <= min(left, Limits.comparisonSize) else {
            left = 0
            return []
        }
        left -= answer.count
        return answer
    }

    private func trees(_ theirs: [UInt8]) throws -> [UInt8]? {
        guard store.trees.count <= RangeRequest.mostTrees else { return nil }
        let digests = RangeDigests(store, (producer: theirs, consumer: nonce))
        self.digests = digests
        let trees = try store.trees.indices.map { tree in
            RangeTrees.Tree(name: try digests.name(of: tree), rows: try digests.whole(tree).rows)
        }
        lists = trees.map { [0..<$0.rows.count] }
        levels = trees.map { _ in RangeDigests.highestLevel + 1 }
        return RangeTrees(nonce: nonce, settings: store.settings, trees: trees).encoded
    }

    private func ranges(_ trees: [RangeRequest.Tree]) throws -> [UInt8]? {
        guard let digests else { throw CompressionError.damaged(.segment) }
        var bytes: [UInt8] = []
        var named: [Int: [Range<Int>]] = [:]
        for tree in trees {
            guard tree.place < lists.count, tree.level < levels[tree.place] else {
                throw CompressionError.damaged(.segment)
            }
            var list: [Range<Int>] = []
            for part in tree.parts {
                guard part.ranges.upperBound <= lists[tree.place].count else {
                    throw CompressionError.damaged(.segment)
                }
                let rows =
                    lists[tree.place][part.ranges.lowerBound]
                    .lowerBound..<lists[tree.place][part.ranges.upperBound - 1]
                    .upperBound
                if part.isCountOnly {
                    bytes.appendVarint(UInt64(rows.count))
                    continue
                }
                let room = (min(left, Limits.comparisonSize) - bytes.count) / 4
                guard room > 0,
                    let ranges = try digests.ranges(of: tree.place, in: rows, level: tree.level, limit: room)
                else { return nil }
                RangeList.append(ranges, to: &bytes)
                var start = rows.lowerBound
                for range in ranges {
                    list.append(start..<start + range.count)
                    start += range.count
                }
            }
            named[tree.place] = list
            levels[tree.place] = tree.level
        }
        // What is not asked about is not asked about later.
        for place in lists.indices { lists[place] = named[place] ?? [] }
        return bytes
    }
}
