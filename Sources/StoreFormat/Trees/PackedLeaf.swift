/// A leaf as the canonical form has most of them: each record is whole in its cell, each varint is the shortest, and the cells stand one
/// before the other from the end of the page on, without gaps.
///
/// Source: `Protocol/CANONICAL.md` section 5.
package struct PackedLeaf {
    let bytes: [UInt8]
    /// Cells: one or more.
    package let count: Int
    /// Where the last cell begins.
    let start: Int
    /// Bytes of the first and of the last cell.
    let lengths: (first: Int, last: Int)
    /// Of the first and of the last row; both 0 in an index tree.
    package let rowids: (first: Int64, last: Int64)
    /// Bytes of the records, and the sum of the quarters of each, rounded down.
    package let sizes: (sum: Int, quarters: Int)
    private let cells: Cells

    /// - Returns: `nil` for any other page.
    init?(_ page: TreePage, _ kind: TreeKind, _ geometry: PageGeometry) {
        guard page.isLeaf, page.number > 1, page.cellCount > 0 else { return nil }
        let cells = Cells(
            count: page.cellCount, pointers: page.pointers, usableSize: geometry.usableSize, isTable: kind == .table,
            mostLocal: geometry.mostLocal(in: kind))
        var (start, first, last, sum, quarters) = (
            0, nil as (length: Int, rowid: Int64)?, (length: 0, rowid: Int64(0)), 0, 0
        )
        let isPacked = cells.forEach(in: page.bytes) { _, cell, place in
            if first != nil, kind == .table, last.rowid >= cell.rowid { return false }
            (start, last) = (place, (cell.end - place, cell.rowid))
            first = first ?? last
            sum += cell.size
            quarters += cell.size / 4
            return true
        }
        guard isPacked, let first else { return nil }
        (bytes, count, self.cells, self.start) = (page.bytes, page.cellCount, cells, start)
        (lengths, rowids) = ((first.length, last.length), (first.rowid, last.rowid))
        sizes = (sum, quarters)
    }

    /// Hands out the cells in order.
    func forEachCell(_ body: (UnsafeRawBufferPointer, _ rowid: Int64) throws -> Void) rethrows {
        _ = try cells.forEach(in: bytes) { page, cell, place in
            try body(UnsafeRawBufferPointer(start: page + place, count: cell.end - place), cell.rowid)
            return true
        }
    }

    private struct Cells {
        let count: Int
        let pointers: Int
        let usableSize: Int
        let isTable: Bool
        let mostLocal: Int

        /// - Parameter body: Returns whether to go on.
        /// - Returns: Whether all of them are whole and follow one another, and `body` went on.
        @inline(__always)
        func forEach(
            in bytes: [UInt8], _ body: (UnsafePointer<UInt8>, WholeCell, _ place: Int) throws -> Bool
        ) rethrows -> Bool {
            try bytes.withUnsafeBufferPointer { bytes in
                // `TreePage` has checked that all pointers are in the page, and `usableSize` is at most the page's size.
                guard let page = bytes.baseAddress else { return false }
                let lowest = pointers + 2 * count
                var end = usableSize
                for index in 0..<count {
                    let pointer = page + pointers + 2 * index
                    let place = Int(pointer[0]) << 8 | Int(pointer[1])
                    guard place >= lowest,
                        let cell = WholeCell(page, at: place, upTo: end, isTable: isTable, mostLocal: mostLocal),
                        // 4 is the least that a cell takes.
                        place + max(4, cell.end - place) == end, (cell.end..<end).allSatisfy({ page[$0] == 0 }),
                        try body(page, cell, place)
                    else { return false }
                    end = place
                }
                return true
            }
        }
    }
}
