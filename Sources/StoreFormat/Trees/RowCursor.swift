/// A cursor over the rows of one b-tree by their ordinals, counted from 0 in the order of their keys.
///
/// Memory: as `TreeReader`; after the first move back or far, 12 bytes for each leaf of a table, and 24 in an index tree.
package struct RowCursor {
    /// Beyond this many rows, or back, the cursor goes by a map of the tree. To skip fewer takes as long as to read a page: a delta can ask for
    /// any number of moves, and pays for one page each (`Protocol/DELTA.md` 8).
    private static let longStep = 64

    private let root: UInt32
    private let pageCount: UInt32
    /// A tree with more rows meets its pages again and again.
    private let mostRows: Int
    /// Gives the record of the cell that `next` gave last.
    package private(set) var reader: TreeReader
    /// The ordinal of the next row.
    package private(set) var position = 0
    private let maps: PlaceMaps
    private var map: PlaceMap?
    /// The entry of `map` that is being read.
    private var entry = 0

    package var kind: TreeKind { reader.kind }

    /// - Parameter maps: Of the trees of these pages.
    /// - Throws: `StoreFlaw`, and what `pages` throws.
    package init(
        _ pages: any PageSource, _ geometry: PageGeometry, root: UInt32, sharing maps: PlaceMaps = PlaceMaps()
    ) throws {
        self.maps = maps
        let kind = try TreeReader.kind(of: root, in: pages, geometry)
        reader = try TreeReader(pages, geometry, root: root, kind: kind)
        self.root = root
        pageCount = pages.pageCount
        mostRows = Int(pages.pageCount) * geometry.pageSize / 4
    }

    /// The next row.
    ///
    /// - Throws: `StoreFlaw`, and what the pages throw.
    package mutating func next() throws -> TreeCell? {
        guard let map else {
            guard let cell = try reader.next() else { return nil }
            position += 1
            guard position <= mostRows else { throw StoreFlaw.page(root, .usedTwice) }
            return cell
        }
        guard position < map.count else { return nil }
        if position >= map.end(of: entry) {
            entry += 1
            try map.enter(entry, skipping: 0, &reader)
        }
        guard let cell = try reader.next() else { throw StoreFlaw.page(root, .order) }
        position += 1
        return cell
    }

    /// Goes to an ordinal: that row comes next, or none at the end.
    ///
    /// - Returns: Whether the tree has that many rows.
    package mutating func move(to place: Int) throws -> Bool {
        guard place != position else { return true }
        if place > position, place - position <= Self.longStep {
            while position < place {
                guard try next() != nil else { return false }
            }
            return true
        }
        let map = try map ?? maps.map(of: root) { try PlaceMap(of: reader, root: root, pageCount: pageCount) }
        self.map = map
        guard place >= 0, place <= map.count else { return false }
        position = place
        guard place < map.count else { return true }
        entry = map.entry(of: place)
        try map.enter(entry, skipping: place - map.start(of: entry), &reader)
        return true
    }

    /// Takes the rows of a leaf at once.
    ///
    /// - Parameter most: Rows to take at most.
    /// - Returns: `nil` if something else than such a leaf comes next.
    package mutating func takeLeaf(upTo most: Int) throws -> PackedLeaf? {
        guard map == nil, let leaf = try reader.leafAhead(), leaf.count <= most else { return nil }
        try skip(leaf)
        return leaf
    }

    /// Skips a leaf of this tree and of another one, if an equal leaf begins here in both.
    ///
    /// - Returns: The leaf; `nil` if it skipped nothing. The next rows may be equal all the same.
    package mutating func skipCommonLeaf(with other: inout RowCursor) throws -> PackedLeaf? {
        guard map == nil, other.map == nil, let page = try reader.pageAhead(),
            let otherPage = try other.reader.pageAhead(),
            page.bytes.hasSameBytes(as: otherPage.bytes), let leaf = try reader.leafAhead()
        else { return nil }
        try skip(leaf)
        try other.skip(leaf)
        return leaf
    }

    private mutating func skip(_ leaf: PackedLeaf) throws {
        try reader.skip(leaf)
        position += leaf.count
        guard position <= mostRows else { throw StoreFlaw.page(root, .usedTwice) }
    }
}
