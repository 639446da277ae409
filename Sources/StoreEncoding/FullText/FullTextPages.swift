import StoreFormat

/// Reads the leaves of one full-text index (FTS5), as a store has them.
///
/// Source: SQLite's `fts5_index.c`.
struct FullTextPages {
    /// The rowids of all postings so far.
    private(set) var rowids: ClosedRange<Int64>?
    /// The last term so far.
    private(set) var term: [UInt8]?
    /// Bytes of positions that the next leaf begins with.
    private var left = 0

    /// The beginning of a leaf, after the rest of a list of positions.
    struct Beginning: Hashable {
        let rest: Int
        let term: [UInt8]
        /// `nil` if the term comes first.
        let rowid: Int64?
    }

    /// The number of an index, if a rowid of its table is that of one of its leaves.
    static func index(of rowid: Int64) -> Int64? {
        // Bits 37 to 52 are the index; below are one for doclist indexes, 5 for the height, and 31 for the page.
        rowid > 0 && rowid >> 31 & 0x3f == 0 && rowid >> 37 > 0 && rowid >> 53 == 0 ? rowid >> 37 : nil
    }

    /// - Returns: The size of a leaf without the offsets of its terms.
    static func size(of leaf: Span<UInt8>) -> Int? {
        guard leaf.count >= 4 else { return nil }
        let size = Int(leaf[2]) << 8 | Int(leaf[3])
        return size >= 4 && size <= leaf.count ? size : nil
    }

    /// The facts about a leaf.
    struct Leaf: Hashable {
        /// `nil` for one that goes on with a list of positions to its end.
        let beginning: Beginning?
    }

    /// Takes the next leaf.
    ///
    /// - Returns: `nil` for a leaf that breaks the format, or has entries of deleted rows.
    mutating func take(_ leaf: Span<UInt8>) -> Leaf? {
        guard let size = Self.size(of: leaf) else { return nil }
        var (place, offset, next) = (4, 0, size)
        var terms: [Int] = []
        while next < leaf.count {
            guard let step = Varint.read(leaf, at: &next), step < UInt64(size - offset) else { return nil }
            offset += Int(step)
            terms.append(offset)
        }
        var beginning: Beginning?
        let rest = left
        var pending = terms[...]
        // A rowid is whole in each leaf and after each term, and else the distance from the one before.
        var rowid: Int64?
        while place < size {
            if left > 0 {
                let count = min(left, size - place)
                (left, place) = (left - count, place + count)
            } else if place == pending.first {
                guard let term = takeTerm(leaf, size, &place, isFirst: pending.count == terms.count) else { return nil }
                pending.removeFirst()
                (self.term, rowid) = (term, nil)
                beginning = beginning ?? Beginning(rest: rest, term: term, rowid: nil)
            } else {
                guard let term, let step = Varint.read(leaf, at: &place), let list = Varint.read(leaf, at: &place),
                    list & 1 == 0, list >> 1 <= UInt64(Int32.max)
                else { return nil }
                let row = Int64(bitPattern: step &+ UInt64(bitPattern: rowid ?? 0))
                (rowid, left) = (row, Int(list >> 1))
                rowids = min(row, rowids?.lowerBound ?? row)...max(row, rowids?.upperBound ?? row)
                beginning = beginning ?? Beginning(rest: rest, term: term, rowid: row)
            }
        }
        return place == size && pending.isEmpty ? Leaf(beginning: beginning) : nil
    }

    private func takeTerm(_ leaf: Span<UInt8>, _ size: Int, _ place: inout Int, isFirst: Bool) -> [UInt8]? {
        var shared: UInt64 = 0
        if !isFirst {
            guard let count = Varint.read(leaf, at: &place) else { return nil }
            shared = count
        }
        guard let count = Varint.read(leaf, at: &place), place <= size, count <= UInt64(size - place),
            shared <= UInt64(term?.count ?? 0)
        else { return nil }
        defer { place += Int(count) }
        let rest = leaf.extracting(place..<place + Int(count)).withUnsafeBufferPointer(Array.init)
        return (term ?? []).prefix(Int(shared)) + rest
    }
}
