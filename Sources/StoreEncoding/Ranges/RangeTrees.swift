import ShipCompression
import ShipProtocol
import StoreFormat

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
