import ShipCompression
import ShipProtocol
import StoreFormat

/// What the producer asks: the first request has its nonce alone; each later one names ranges of the last answer.
///
/// Source: `Protocol/RANGES.md` section 3. Vectors: `ranges_*`.
enum RangeRequest: Hashable {
    case trees(nonce: [UInt8])
    case ranges([Tree])

    /// Ranges of one tree that are to be told.
    struct Tree: Hashable {
        /// Its place in the first answer.
        let place: Int
        let level: Int
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

/// The first answer: what the trees of the consumer's store are.
struct RangeTrees: Hashable {
    let nonce: [UInt8]
    let settings: StoreSettings
    /// By their places; the first is that of `sqlite_schema`.
    let trees: [Tree]

    struct Tree: Hashable {
        let name: UInt32
        let rows: RowRange
    }

    var encoded: [UInt8] {
        var bytes = nonce
        for number in settings.numbers { bytes.appendVarint(UInt64(number)) }
        bytes.appendVarint(UInt64(trees.count))
        for tree in trees {
            bytes.append(bigEndian: tree.name)
            bytes.appendVarint(UInt64(tree.rows.count))
            bytes.append(bigEndian: tree.rows.digest)
        }
        return bytes
    }

    init(nonce: [UInt8], settings: StoreSettings, trees: [Tree]) {
        (self.nonce, self.settings, self.trees) = (nonce, settings, trees)
    }

    /// - Throws: `CompressionError.damaged`, `StoreFlaw` for settings that there are not.
    init(decoding bytes: [UInt8]) throws {
        var cursor = AreaCursor(bytes)
        nonce = Array(bytes[try cursor.take(RangeDigests.nonceSize)])
        var numbers: [UInt32] = []
        for _ in 0..<StoreSettings.numberCount {
            numbers.append(UInt32(try cursor.count(limit: Int(UInt32.max))))
        }
        settings = try StoreSettings(numbers: numbers)
        var trees: [Tree] = []
        for _ in 0..<(try cursor.count(limit: RangeRequest.mostTrees)) {
            let name = try cursor.word()
            let count = try cursor.count(limit: RangeList.mostRows)
            trees.append(Tree(name: name, rows: RowRange(count: count, digest: try cursor.word())))
        }
        guard cursor.left == 0 else { throw CompressionError.damaged(.segment) }
        self.trees = trees
    }
}

/// A later answer: of each part of the request the digests of its ranges, or the number of its rows.
enum RangeList {
    /// Most rows of a tree: so many fit into no file.
    static let mostRows = 1 << 46

    static func append(_ ranges: [RowRange], to bytes: inout [UInt8]) {
        bytes.appendVarint(UInt64(ranges.count))
        for range in ranges { bytes.append(bigEndian: range.digest) }
    }

    /// - Throws: `CompressionError.damaged`.
    static func digests(_ cursor: inout AreaCursor) throws(CompressionError) -> [UInt32] {
        let count = try cursor.count(limit: cursor.left / 4)
        var digests: [UInt32] = []
        digests.reserveCapacity(count)
        for _ in 0..<count { digests.append(try cursor.word()) }
        return digests
    }
}

extension AreaCursor {
    fileprivate mutating func word() throws(CompressionError) -> UInt32 {
        let range = try take(4)
        return bytes[range].reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian word: UInt32) {
        for shift in stride(from: 24, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: word >> UInt32(shift))) }
    }
}
