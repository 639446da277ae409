/// The pages that hold the rows of a tree, in order.
struct PlaceMap {
    private static let isLeaf = UInt32.max

    private let pages: [UInt32]
    /// The cell of an interior page, or `isLeaf`.
    private let cells: [UInt32]
    /// The ordinal of the first row of each.
    private let starts: [UInt32]
    let count: Int

    /// - Throws: `.usedTwice` for a tree with more pages than the file has.
    init(of reader: TreeReader, root: UInt32, pageCount: UInt32) throws {
        var (pages, cells, starts): ([UInt32], [UInt32], [UInt32]) = ([], [], [])
        var count = 0
        var leaves: UInt32 = 0
        try reader.forEachPlace(from: root) { page, cell, rows in
            starts.append(UInt32(truncatingIfNeeded: count))
            if cell == nil {
                leaves += 1
                guard leaves <= pageCount else { throw StoreFlaw.page(page, .usedTwice) }
            }
            pages.append(page)
            cells.append(cell.map { UInt32(truncatingIfNeeded: $0) } ?? Self.isLeaf)
            count += rows
            guard count < Int(UInt32.max) else { throw StoreFlaw.tooLarge }
        }
        (self.pages, self.cells, self.starts, self.count) = (pages, cells, starts, count)
    }

    func start(of entry: Int) -> Int { Int(starts[entry]) }

    func end(of entry: Int) -> Int { entry + 1 < starts.count ? Int(starts[entry + 1]) : count }

    /// Lets a reader go on in the page of an entry.
    func enter(_ entry: Int, skipping skipped: Int, _ reader: inout TreeReader) throws {
        let cell = cells[entry]
        try reader.enter(pages[entry], cell: cell == Self.isLeaf ? nil : Int(cell), skipping: skipped)
    }

    /// The entry that holds an ordinal.
    func entry(of place: Int) -> Int {
        var (low, high) = (0, starts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if start(of: middle) <= place { low = middle } else { high = middle }
        }
        return low
    }
}
