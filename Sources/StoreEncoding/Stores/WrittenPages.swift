import StoreFormat

/// The pages that earlier segments have filled for certain, as a walk over the rows goes on: those that a segment may name bytes of.
///
/// Source: `Protocol/COLUMNS.md` 2, "Runs".
struct WrittenPages: Sendable {
    let geometry: PageGeometry
    /// The highest page that is the root of a tree.
    let roots: UInt32
    /// Pages that no run may be of: their rows come after those of all other trees.
    private var kept: [KeptPages] = []
    /// The last page that is written for certain after the rows so far: pages are written in the order of their numbers.
    private var written: UInt32 = 0
    /// That of the segments before this one.
    private var limit: UInt32 = 0
    /// The leaf of the row before; 0 at the beginning of a tree.
    private var leaf: UInt32 = 0

    init(_ geometry: PageGeometry, roots: UInt32) { (self.geometry, self.roots) = (geometry, roots) }

    /// Whether the segment may name bytes of a page.
    func mayName(_ page: UInt32) -> Bool { page <= limit && page > roots && !isSetAside(page) }

    /// Whether no run has bytes of a page, wherever it stands.
    func isSetAside(_ page: UInt32) -> Bool { geometry.isSetAside(page) || kept.contains { $0.contains(page) } }

    /// The pages of the next tree are given, and are written after those of all other trees.
    mutating func keep(_ pages: KeptPages) {
        endTree()
        kept.append(pages)
    }

    /// The tree before has ended: all its pages are written.
    mutating func endTree() {
        written = max(written, leaf)
        leaf = 0
    }

    /// A row is written.
    mutating func end(_ cell: TreeCell, _ kind: TreeKind) {
        if kind == .table, cell.page != leaf {
            // The leaf before is written with the first row of this one. That of an index may wait, as its last entry may move.
            written = max(written, leaf)
            leaf = cell.page
        }
        guard cell.overflow > 0 else { return }
        let chain = (cell.payloadSize - cell.localSize - 1) / geometry.overflowSize
        written = max(written, geometry.page(after: cell.overflow, by: chain))
    }

    mutating func endSegment() { limit = written }
}
