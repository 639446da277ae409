/// The layout of a file of pages, and how much of a payload stays in its cell.
///
/// Source: sqlite.org/fileformat2.html sections 1.2, 1.6 and 1.8; `Protocol/CANONICAL.md` sections 4 and 5.
package struct PageGeometry: Hashable, Sendable {
    /// Bytes a page: a power of two from 512 to 65,536.
    package let pageSize: Int
    /// Bytes of a page before the reserved ones at its end: at least 480.
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

    /// Whether what a page of a tree holds fits as well in a page of the other.
    package func hasSamePages(as other: PageGeometry) -> Bool {
        (pageSize, usableSize) == (other.pageSize, other.usableSize)
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

    /// Bytes of the longest payload that fits in its cell without overflow.
    package func mostLocal(in kind: TreeKind) -> Int {
        kind == .table ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
    }

    /// The pointer map page that has the entry of a page from 2 on, and the entry's offset.
    package func pointerMap(of page: UInt32) -> (page: UInt32, offset: Int) {
        let period = UInt32(usableSize / 5 + 1)
        var map = (page - 2) / period * period + 2
        if map == lockPage { map += 1 }
        return (map, page > map ? Int(page - map - 1) * 5 : 0)
    }

    /// Whether a page is the lock page or a pointer map page, which never hold content.
    package func isSetAside(_ page: UInt32) -> Bool {
        if page == lockPage { return true }
        return hasAutoVacuum && page >= 2 && pointerMap(of: page).page == page
    }

    /// The next page that may hold content, or a later one.
    ///
    /// - Parameters:
    ///   - page: At least 1.
    ///   - steps: Such pages on the way, with the result.
    package func page(after page: UInt32, by steps: Int = 1) -> UInt32 {
        let start = Int(page)
        var (next, last) = (start + steps, start)
        while next != last { (next, last) = (start + steps + setAside(after: start, upTo: next), next) }
        return UInt32(clamping: next)
    }

    /// How many pages after `first` and up to `last` never hold content.
    private func setAside(after first: Int, upTo last: Int) -> Int {
        var lock = Int(lockPage)
        guard hasAutoVacuum else { return first < lock && lock <= last ? 1 : 0 }
        let period = usableSize / 5 + 1
        // Where a pointer map page would be the lock page, it is the page after that.
        if (lock - 2) % period == 0 { lock += 1 }
        let maps = (last + period - 2) / period - (first + period - 2) / period
        return maps + (first < lock && lock <= last ? 1 : 0)
    }
}
