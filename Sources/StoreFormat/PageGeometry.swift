/// Where things are in a file of pages, and how much of a payload stays in its cell.
///
/// Source: sqlite.org/fileformat2.html sections 1.2, 1.6 and 1.8; `Protocol/CANONICAL.md` sections 4 and 5.
package struct PageGeometry: Hashable, Sendable {
    /// Bytes a page: a power of two from 512 to 65,536.
    package let pageSize: Int
    /// Bytes of a page without those that are reserved at its end: at least 480.
    package let usableSize: Int
    /// Whether there are pointer map pages.
    package let hasAutoVacuum: Bool
    /// The page that holds the lock bytes of files over 1 GiB, and nothing else.
    package let lockPage: UInt32

    package init(pageSize: Int, reservedBytes: Int, hasAutoVacuum: Bool) {
        self.pageSize = pageSize
        usableSize = pageSize - reservedBytes
        self.hasAutoVacuum = hasAutoVacuum
        lockPage = UInt32((1 << 30) / pageSize + 1)
    }

    package init(_ settings: StoreSettings) {
        self.init(
            pageSize: settings.pageSize, reservedBytes: settings.reservedBytes, hasAutoVacuum: settings.hasAutoVacuum)
    }

    /// Bytes of an overflow page's content.
    package var overflowSize: Int { usableSize - 4 }

    /// Bytes of a payload that stay in the cell.
    package func localSize(ofPayload size: Int, in kind: TreeKind) -> Int {
        let most = mostLocal(in: kind)
        guard size > most else { return size }
        let least = (usableSize - 12) * 32 / 255 - 23
        let fitting = least + (size - least) % overflowSize
        return fitting <= most ? fitting : least
    }

    /// Bytes of the longest payload that is in its cell alone.
    package func mostLocal(in kind: TreeKind) -> Int {
        kind == .table ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
    }

    /// The page whose entries tell of a page, and where in it.
    ///
    /// - Parameter page: At least 2.
    package func pointerMap(of page: UInt32) -> (page: UInt32, offset: Int) {
        let period = UInt32(usableSize / 5 + 1)
        var map = (page - 2) / period * period + 2
        if map == lockPage { map += 1 }
        return (map, page > map ? Int(page - map - 1) * 5 : 0)
    }

    /// Whether a page never holds content: the lock page and the pointer maps.
    package func isSetAside(_ page: UInt32) -> Bool {
        if page == lockPage { return true }
        return hasAutoVacuum && page >= 2 && pointerMap(of: page).page == page
    }
}

/// The two kinds of b-trees.
///
/// Source: sqlite.org/fileformat2.html section 1.6.
package enum TreeKind: Hashable, Sendable {
    /// Rows by their rowids, all of them in leaves.
    case table
    /// Entries by their content, in leaves and between them: indexes, and tables WITHOUT ROWID.
    case index

    package var leafType: UInt8 { self == .table ? 13 : 10 }
    package var interiorType: UInt8 { self == .table ? 5 : 2 }
}
