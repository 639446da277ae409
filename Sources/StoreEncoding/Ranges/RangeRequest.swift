import ShipCompression
import ShipProtocol

/// A request of the producer: the first one has its nonce alone; each later one names ranges of the last answer.
///
/// Source: `Protocol/RANGES.md` section 3. Vectors: `ranges_*`.
enum RangeRequest: Hashable {
    case trees(nonce: [UInt8])
    case ranges([Tree])

    /// Ranges of one tree that are to be told.
    struct Tree: Hashable {
        /// Its place in the first answer.
        let place: Int
        var level: Int
        var parts: [Part] = []
    }

    /// Ranges of the last answer that follow each other: what is in them, or only how many rows they have.
    struct Part: Hashable {
        let ranges: Range<Int>
        let isCountOnly: Bool
    }

    /// Most trees of a store that is compared, with that of `sqlite_schema`.
    static let mostTrees = 65_536

    var encoded: [UInt8] {
        switch self {
        case .trees(let nonce): return nonce
        case .ranges(let trees):
            var bytes: [UInt8] = []
            bytes.appendVarint(UInt64(trees.count))
            var next = 0
            for tree in trees {
                bytes.appendVarint(UInt64(tree.place - next))
                bytes.append(UInt8(tree.level))
                bytes.appendVarint(UInt64(tree.parts.count))
                var end = 0
                for part in tree.parts {
                    bytes.appendVarint(UInt64(part.ranges.lowerBound - end))
                    bytes.appendVarint(UInt64(part.ranges.count - 1) << 1 | (part.isCountOnly ? 1 : 0))
                    end = part.ranges.upperBound
                }
                next = tree.place + 1
            }
            return bytes
        }
    }

    /// - Parameter isFirst: Whether it is the first one for a shipment.
    /// - Throws: `CompressionError.damaged`.
    init(decoding bytes: [UInt8], isFirst: Bool) throws(CompressionError) {
        if isFirst {
            guard bytes.count == RangeDigests.nonceSize else { throw .damaged(.segment) }
            self = .trees(nonce: bytes)
            return
        }
        var cursor = AreaCursor(bytes)
        var trees: [Tree] = []
        var next = 0
        for _ in 0..<(try cursor.count(limit: Self.mostTrees)) {
            let place = next + (try cursor.count(limit: Self.mostTrees))
            var tree = Tree(place: place, level: Int(try cursor.byte()))
            var end = 0
            // Each takes two bytes at least.
            for _ in 0..<(try cursor.count(limit: cursor.left / 2)) {
                let first = end + (try cursor.count(limit: Limits.comparisonSize))
                let size = try cursor.varint()
                guard size >> 1 < UInt64(Limits.comparisonSize) else { throw .damaged(.segmentLimit) }
                end = first + Int(size >> 1) + 1
                tree.parts.append(Part(ranges: first..<end, isCountOnly: size & 1 == 1))
            }
            trees.append(tree)
            next = place + 1
        }
        guard cursor.left == 0 else { throw .damaged(.segment) }
        self = .ranges(trees)
    }
}
