import Crypto
import StoreFormat

/// Computes the digests of ranges of rows of a store: where two stores have the same rows, they have the same ranges.
///
/// Source: `Protocol/RANGES.md` section 2. Memory: that of a cursor over the rows, and what is returned.
struct RangeDigests {
    /// Bytes of the part of a key that one side chooses.
    static let nonceSize = 16
    /// A range of this level has 2^32 rows in the mean.
    static let highestLevel = 16

    let store: DeltaStore
    /// A hash function that has taken the key.
    private let keyed: SHA256

    /// - Parameter nonces: Of the producer, and of the consumer.
    init(_ store: DeltaStore, _ nonces: (producer: [UInt8], consumer: [UInt8])) {
        self.store = store
        let key = SHA256.hash(data: Array("ship-store ranges v1".utf8) + nonces.producer + nonces.consumer)
        var keyed = SHA256()
        keyed.update(data: Array(key))
        self.keyed = keyed
    }

    /// The digest of what a tree is called, and of what kind it is.
    func name(of tree: Int) throws -> UInt32 {
        let planned = store.trees[tree]
        let kind: UInt8 = planned.isTable ? try store.kind(of: tree) == .table ? 1 : 2 : 3
        return Self.words(of: [kind] + planned.name, keyed).digest
    }

    /// All rows of a tree as one range.
    ///
    /// - Returns: It, and the bytes of its records.
    func whole(_ tree: Int) throws -> (rows: RowRange, size: Int64) {
        var (all, bytes) = (RowRange(count: 0, digest: 0), Int64(0))
        try forEachRow(of: tree, in: 0..<Int.max) { words, size in
            all = RowRange(count: all.count + 1, digest: all.digest &+ words.digest)
            bytes += Int64(size)
            return true
        }
        return (all, bytes)
    }

    /// Cuts rows of a tree into ranges; the last one ends where they do.
    ///
    /// - Parameters:
    ///   - rows: By their places.
    ///   - level: A range has 4^level rows in the mean.
    ///   - limit: Most ranges.
    /// - Returns: `nil` if there are more.
    func ranges(of tree: Int, in rows: Range<Int>, level: Int, limit: Int = .max) throws -> [RowRange]? {
        var ranges: [RowRange] = []
        var open = RowRange(count: 0, digest: 0)
        var isTooMany = false
        let mask = UInt32(truncatingIfNeeded: UInt64(1) << UInt64(2 * level) - 1)
        try forEachRow(of: tree, in: rows) { words, _ in
            open = RowRange(count: open.count + 1, digest: open.digest &+ words.digest)
            guard words.cut & mask == 0 else { return true }
            isTooMany = ranges.count == limit
            ranges.append(open)
            open = RowRange(count: 0, digest: 0)
            return !isTooMany
        }
        if open.count > 0 { ranges.append(open) }
        return isTooMany || ranges.count > limit ? nil : ranges
    }

    private typealias Words = (cut: UInt32, digest: UInt32)

    /// - Parameter body: Gets the words of a row and the bytes of its record; returns whether to go on.
    private func forEachRow(of tree: Int, in places: Range<Int>, _ body: (Words, Int) throws -> Bool) throws {
        var rows = try store.rows(of: tree)
        guard try places.isEmpty || rows.move(to: places.lowerBound) else { throw StoreFlaw.record(page: 0) }
        var row = DeltaRow()
        while rows.position < places.upperBound, try rows.next(&row) {
            var hash = keyed
            withUnsafeBytes(of: (rows.kind == .table ? row.rowid : 0).bigEndian) { hash.update(bufferPointer: $0) }
            if row.isLong {
                try rows.forEachPiece { piece in piece.withUnsafeBytes { hash.update(bufferPointer: $0) } }
            } else {
                row.record.withUnsafeBytes { hash.update(bufferPointer: $0) }
            }
            guard try body(Self.words(hash), row.size) else { return }
        }
    }

    private static func words(of bytes: [UInt8], _ keyed: SHA256) -> Words {
        var hash = keyed
        hash.update(data: bytes)
        return words(hash)
    }

    /// The first two words of a hash: where to cut, and the digest.
    private static func words(_ hash: SHA256) -> Words {
        hash.finalize().withUnsafeBytes { bytes in
            (
                UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)),
                UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
            )
        }
    }
}
