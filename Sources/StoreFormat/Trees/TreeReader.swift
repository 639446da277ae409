/// Reads the cells of one b-tree in the order of their keys, from untrusted bytes.
///
/// Memory: one page for each of at most 20 levels, and one more.
package struct TreeReader {
    /// SQLite's own limit [btreeInt.h, BTCURSOR_MAX_DEPTH].
    private static var deepest: Int { 20 }

    package let kind: TreeKind
    private let pages: any PageSource
    private let geometry: PageGeometry
    private var use: PageUse?
    private var levels: [Level] = []
    private var lastRowid: Int64?
    /// The depth of the leaves so far.
    private var depth: Int?

    /// A page on the path from the root to the current cell.
    private struct Level {
        let page: TreePage
        /// In a leaf, the number of cells handed out; in an interior page twice that, and 1 more after the child before a cell.
        var position = 0
        /// Bytes of the cells handed out. More than the page has means that cells overlap.
        var used = 0
    }

    /// - Parameter use: Notes the pages that the reader meets. Without it the reader may meet a page again and again: leave it out
    ///   only if the pages have been noted before, or this program has made them.
    package init(
        _ pages: any PageSource, _ geometry: PageGeometry, root: UInt32, kind: TreeKind, use: PageUse? = nil
    ) throws {
        self.pages = pages
        self.geometry = geometry
        self.kind = kind
        self.use = use
        try descend(to: root)
    }

    /// - Returns: The kind of the tree that begins with a page.
    package static func kind(of root: UInt32, in pages: any PageSource, _ geometry: PageGeometry) throws -> TreeKind {
        guard (1...max(1, pages.pageCount)).contains(root) else { throw StoreFlaw.page(root, .number) }
        var page = [UInt8](repeating: 0, count: geometry.pageSize)
        try pages.read(root, into: &page)
        let type = page[root == 1 ? DatabaseHeader.size : 0]
        return type == TreeKind.index.leafType || type == TreeKind.index.interiorType ? .index : .table
    }

    /// The same reader, which does not note pages.
    package var unnoted: TreeReader {
        var copy = self
        copy.use = nil
        return copy
    }

    /// - Throws: `StoreFlaw`, and what `pages` throws.
    package mutating func next() throws -> TreeCell? {
        let isInLeaf = try enterLeaf()
        guard !levels.isEmpty else { return nil }
        let top = levels.count - 1
        let position = levels[top].position
        levels[top].position = position + 1
        let cell = try takeCell(isInLeaf ? position : position / 2)
        if kind == .table {
            if let lastRowid, lastRowid >= cell.rowid { throw StoreFlaw.page(cell.page, .order) }
            lastRowid = cell.rowid
        }
        return cell
    }

    /// Goes to the leaf that the next cell is in.
    ///
    /// - Returns: `false` if that cell is in an interior page, of an index's tree, and if there is none.
    /// - Throws: `StoreFlaw`, and what `pages` throws.
    mutating func enterLeaf() throws -> Bool {
        while !levels.isEmpty {
            let top = levels.count - 1
            let position = levels[top].position
            let page = levels[top].page
            guard position < page.cellCount || !page.isLeaf, position <= 2 * page.cellCount else {
                levels.removeLast()
                continue
            }
            if page.isLeaf { return true }
            if position % 2 == 0 {
                levels[top].position = position + 1
                try descend(to: position / 2 < page.cellCount ? page.child(position / 2) : page.rightChild)
            } else if kind == .index {
                return false
            } else {
                if let lastRowid, try lastRowid > page.separator(position / 2) {
                    throw StoreFlaw.page(page.number, .order)
                }
                levels[top].position = position + 1
            }
        }
        return false
    }

    /// Copies the next cells of the current leaf for as long as they need no change. `next` then gives the first other cell.
    ///
    /// - Parameter form: The canonical form that the records must have; `nil` for any record.
    /// - Returns: Cells and bytes.
    mutating func copyUnchangedCells(
        _ form: IntegerForm?, to output: UnsafeMutableRawBufferPointer
    ) -> (cells: Int, bytes: Int) {
        guard let level = levels.last, level.page.isLeaf else { return (0, 0) }
        var place = (index: level.position, used: level.used, lastRowid: lastRowid)
        let bytes = level.page.copyUnchangedCells(at: &place, form, to: output)
        levels[levels.count - 1].position = place.index
        levels[levels.count - 1].used = place.used
        lastRowid = place.lastRowid
        return (place.index - level.position, bytes)
    }

    /// A cell of the current page.
    private mutating func takeCell(_ index: Int) throws -> TreeCell {
        let top = levels.count - 1
        let cell = try levels[top].page.cell(index)
        levels[top].used += cell.room
        guard levels[top].used <= levels[top].page.room else { throw StoreFlaw.page(cell.page, .cell(index)) }
        return cell
    }

    private mutating func descend(to number: UInt32) throws {
        guard levels.count < Self.deepest else { throw StoreFlaw.page(number, .depth) }
        let page = try TreePage(number, try read(number), kind, geometry)
        // Page 1 may be an interior page without cells.
        guard page.cellCount > 0 || levels.isEmpty else { throw StoreFlaw.page(number, .empty) }
        guard page.cellCount > 0 || page.isLeaf || number == 1 else { throw StoreFlaw.page(number, .empty) }
        levels.append(Level(page: page))
        guard page.isLeaf else { return }
        guard levels.count == depth ?? levels.count else { throw StoreFlaw.page(number, .depth) }
        depth = levels.count
    }

    private func read(_ number: UInt32) throws -> [UInt8] {
        guard number >= 1, number <= pages.pageCount, !geometry.isSetAside(number) else {
            throw StoreFlaw.page(number, .number)
        }
        try use?.take(number)
        var bytes = [UInt8](repeating: 0, count: geometry.pageSize)
        try pages.read(number, into: &bytes)
        return bytes
    }

    /// Hands out the record of the cell that `next` gave last, piece by piece.
    ///
    /// - Throws: `StoreFlaw`, and what `pages` and `body` throw.
    package func forEachPiece(of cell: TreeCell, _ body: (Span<UInt8>) throws -> Void) throws {
        guard let page = levels.last?.page, page.number == cell.page else { return }
        let whole = page.bytes
        try body(whole.span.extracting(cell.start..<(cell.start + cell.localSize)))
        var left = cell.payloadSize - cell.localSize
        var next = cell.overflow
        while left > 0 {
            let bytes = try read(next)
            let size = min(left, geometry.overflowSize)
            try body(bytes.span.extracting(4..<(4 + size)))
            left -= size
            let following = bytes[0..<4].reduce(0) { $0 << 8 | UInt32($1) }
            guard (following == 0) == (left == 0) else { throw StoreFlaw.page(next, .chain) }
            next = following
        }
    }

    /// Appends the record of the cell that `next` gave last, which takes as much memory as its size.
    package func appendRecord(of cell: TreeCell, to bytes: inout [UInt8]) throws {
        if cell.overflow == 0, let page = levels.last?.page, page.number == cell.page {
            page.bytes.withUnsafeBufferPointer {
                bytes.append(contentsOf: $0[cell.start..<(cell.start + cell.localSize)])
            }
            return
        }
        try forEachPiece(of: cell) { piece in piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) } }
    }

    /// The record of the cell that `next` gave last, for random access.
    ///
    /// - Throws: `StoreFlaw`, and what the pages throw.
    package func places(of cell: TreeCell) throws -> RandomAccessRecord {
        var local: [UInt8] = []
        if let page = levels.last?.page, page.number == cell.page {
            local = Array(page.bytes[cell.start..<(cell.start + cell.localSize)])
        }
        var chain: [UInt32] = []
        var left = cell.payloadSize - local.count
        var next = cell.overflow
        var pointer: [UInt8] = [0, 0, 0, 0]
        while left > 0 {
            guard next >= 1, next <= pages.pageCount, !geometry.isSetAside(next) else {
                throw StoreFlaw.page(next, .number)
            }
            chain.append(next)
            try pages.read(next, into: &pointer)
            left -= geometry.overflowSize
            next = pointer.reduce(0) { $0 << 8 | UInt32($1) }
        }
        return RandomAccessRecord(
            size: cell.payloadSize, local: local, chain: chain, pages: pages, pageSize: geometry.pageSize,
            overflowSize: geometry.overflowSize)
    }

    // MARK: By leaves

    /// The leaf whose first cell comes next; `nil` if something else comes next.
    mutating func pageAhead() throws -> TreePage? {
        guard try enterLeaf(), let level = levels.last, level.position == 0 else { return nil }
        return level.page
    }

    /// The same, if it is packed.
    mutating func leafAhead() throws -> PackedLeaf? { try pageAhead().flatMap { PackedLeaf($0, kind, geometry) } }

    /// Passes over all cells of the leaf that `leafAhead` gave last.
    mutating func skip(_ leaf: PackedLeaf) throws {
        let top = levels.count - 1
        levels[top].position = leaf.count
        guard kind == .table else { return }
        if let lastRowid, lastRowid >= leaf.rowids.first { throw StoreFlaw.page(levels[top].page.number, .order) }
        lastRowid = leaf.rowids.last
    }

    // MARK: By place

    /// Finds the pages and cells that hold the rows, in order. It reads only the headers of leaves.
    ///
    /// - Parameter note: Gets the number of each leaf and how many rows it has, and in index trees each row between them: the number of
    ///   the interior page, and the row's cell.
    func forEachPlace(from root: UInt32, _ note: (_ page: UInt32, _ cell: Int?, _ rows: Int) throws -> Void) throws {
        try forEachPlace(from: root, depth: 0, note)
    }

    private func forEachPlace(
        from number: UInt32, depth: Int, _ note: (_ page: UInt32, _ cell: Int?, _ rows: Int) throws -> Void
    ) throws {
        guard depth < Self.deepest else { throw StoreFlaw.page(number, .depth) }
        let page = try TreePage(number, try read(number), kind, geometry)
        guard !page.isLeaf else { return try note(number, nil, page.cellCount) }
        for cell in 0..<page.cellCount {
            try forEachPlace(from: page.child(cell), depth: depth + 1, note)
            if kind == .index { try note(number, cell, 1) }
        }
        try forEachPlace(from: page.rightChild, depth: depth + 1, note)
    }

    /// Goes on in a page, up to its end.
    ///
    /// - Parameters:
    ///   - cell: The cell of an interior page; `nil` for a leaf.
    ///   - skipped: Cells of a leaf to skip.
    mutating func enter(_ number: UInt32, cell: Int?, skipping skipped: Int) throws {
        lastRowid = nil
        let page = try TreePage(number, try read(number), kind, geometry)
        guard page.isLeaf == (cell == nil) else { throw StoreFlaw.page(number, .depth) }
        levels = [Level(page: page, position: cell.map { 2 * $0 + 1 } ?? skipped)]
    }
}
