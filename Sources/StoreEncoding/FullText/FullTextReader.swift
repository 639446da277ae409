import ShipCompression
import StoreFormat

/// Reads the items of leaves that follow from a table, for the decoder of the tree that has them. It does not trust them.
///
/// Source: `Protocol/COLUMNS.md` section 1.4.
struct FullTextReader {
    /// Of the last index of the tree.
    private var leaves: FullTextLeaves?

    /// Reads an item.
    ///
    /// - Parameters:
    ///   - postings: Sorts those of an index. It checks that all rows of the content have come.
    ///   - put: Gets the rows.
    mutating func read(
        from reader: inout SegmentReader, _ work: DecodingWork, postings: (FullTextShape) throws -> SortedEntries,
        put: (_ record: [UInt8], _ rowid: Int64) throws -> Void
    ) throws {
        if try reader.count(upTo: 1) == 1 { leaves = FullTextLeaves(try postings(try FullTextShape(from: &reader))) }
        let first = Int64(zigzag: try reader.number())
        let passed = try reader.count(upTo: Int(Int32.max))
        let part = try reader.count(upTo: IndexShape.longestEntry)
        let count = try reader.count(upTo: FullTextLeaves.mostOfItem)
        guard var leaves, try leaves.pass(FullTextLeaves.Place(postings: passed, part: part)) else {
            throw CompressionError.damaged(.rows)
        }
        for index in 0..<count {
            let size = try reader.count(upTo: FullTextLeaves.longest)
            try work.spend(DecodingWork.row + size)
            guard let (leaf, end) = try leaves.leaf(size), try leaves.pass(end) else {
                throw CompressionError.damaged(.rows)
            }
            let record = FullTextLeaves.record(of: leaf)
            work.pay(bytes: record.count)
            try put(record, first &+ Int64(index))
        }
        self.leaves = leaves
    }
}
