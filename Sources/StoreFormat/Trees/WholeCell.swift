/// A cell of a leaf that has the whole record, with the shortest varints.
struct WholeCell {
    /// Of a table's row; 0 in index trees.
    let rowid: Int64
    /// Where the record begins in the page.
    let record: Int
    let end: Int

    var size: Int { end - record }

    /// - Parameters:
    ///   - start: Where the cell begins.
    ///   - limit: `page` has at least so many bytes, and the cell ends there or before.
    ///   - mostLocal: Bytes of the longest record that a cell may have whole.
    /// - Returns: `nil` for any other cell.
    @inline(__always)
    init?(_ page: UnsafePointer<UInt8>, at start: Int, upTo limit: Int, isTable: Bool, mostLocal: Int) {
        var (position, size) = (start, 0)
        repeat {
            // No page holds a record whose size takes four bytes.
            guard position < min(limit, start + 3) else { return nil }
            size = size << 7 | Int(page[position] & 0x7F)
            position += 1
        } while page[position - 1] >= 0x80
        guard position - start == Varint.length(of: UInt64(size)) else { return nil }
        guard size <= mostLocal else { return nil }
        var rowid: UInt64 = 0
        if isTable {
            let first = position
            while position < limit, position < first + 8, page[position] >= 0x80 {
                rowid = rowid << 7 | UInt64(page[position] & 0x7F)
                position += 1
            }
            guard position < limit else { return nil }
            rowid = position < first + 8 ? rowid << 7 | UInt64(page[position]) : rowid << 8 | UInt64(page[position])
            position += 1
            guard position - first == Varint.length(of: rowid) else { return nil }
        }
        guard position + size <= limit else { return nil }
        (self.rowid, record, end) = (Int64(bitPattern: rowid), position, position + size)
    }
}
