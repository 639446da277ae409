/// Writes the canonical form of a store, from its rows.
///
/// Make it, then write each tree in the order of `Protocol/CANONICAL.md` section 4 with a `TreeWriter` of `tree(_:root:)`, then call
/// `finish`. Memory: two pages for each level of the tree that is being written.
package final class StoreWriter {
    package let settings: StoreSettings
    package let sink: any PageSink
    package let geometry: PageGeometry
    private let mostPages: UInt32
    private var lastPage: UInt32 = 1
    private var firstPage: [UInt8]
    private var highestRoot: UInt32 = 1
    /// The rest of the pages that were kept for the tree that is being written.
    private var filling: KeptPages?
    /// The number of the root page of each tree, `sqlite_schema` first.
    package private(set) var roots: [UInt32] = [1]

    /// - Parameters:
    ///   - treeCount: B-trees beside that of `sqlite_schema`.
    ///   - mostPages: SQLite's own limit [sqlite.org/limits.html], or less.
    /// - Throws: `.tooLarge`, here and later, where there would be more pages.
    package init(
        _ settings: StoreSettings, treeCount: Int, mostPages: UInt32 = UInt32.max - 1, sink: any PageSink
    ) throws {
        self.mostPages = mostPages
        self.settings = settings
        self.sink = sink
        geometry = PageGeometry(settings)
        firstPage = Array(repeating: 0, count: settings.pageSize)
        for _ in 0..<treeCount {
            let root = try nextPage()
            try point(root, type: .root, parent: 0)
            roots.append(root)
            highestRoot = root
        }
    }

    package var pageCount: UInt32 { lastPage }

    /// - Parameter root: One of `roots`.
    package func tree(_ kind: TreeKind, root: UInt32) -> TreeWriter {
        TreeWriter(self, kind, root: root)
    }

    /// Writes the first page, whose header depends on all others.
    package func finish() throws {
        firstPage.replaceSubrange(
            0..<DatabaseHeader.size, with: settings.header(pageCount: lastPage, highestRoot: highestRoot))
        try sink.write(firstPage, number: 1)
    }

    /// The next page, by section 4, or the next of those that were kept for the tree.
    func nextPage() throws -> UInt32 {
        let next = geometry.page(after: filling?.after ?? lastPage)
        guard next <= filling?.last ?? mostPages else { throw StoreFlaw.tooLarge }
        if filling == nil { lastPage = next } else { filling?.after = next }
        return next
    }

    // MARK: Trees that are written later

    /// Gives the pages of a tree, so many beside its root, whose rows come after those of others.
    package func keep(_ count: Int) throws -> KeptPages {
        guard count <= Int(mostPages) else { throw StoreFlaw.tooLarge }
        let kept = KeptPages(after: lastPage, upTo: geometry.page(after: lastPage, by: count))
        guard kept.last <= mostPages else { throw StoreFlaw.tooLarge }
        lastPage = kept.last
        return kept
    }

    /// The tree that is written next takes these pages.
    package func fill(_ kept: KeptPages) { filling = kept }

    /// The tree has ended.
    ///
    /// - Throws: `.unusedPages` if it did not take all pages that were kept for it.
    package func endFilling() throws {
        guard let filling else { return }
        self.filling = nil
        guard filling.after == filling.last else { throw StoreFlaw.unusedPages(Int(filling.last - filling.after)) }
    }

    /// Source: section 7.
    enum PointerType: UInt8 {
        case root = 1
        case firstOfChain = 3
        case inChain = 4
        case child = 5
    }

    func point(_ page: UInt32, type: PointerType, parent: UInt32) throws {
        guard geometry.hasAutoVacuum else { return }
        let place = geometry.pointerMap(of: page)
        try sink.writePointer((type.rawValue, parent), map: place.page, offset: place.offset)
    }

    /// Writes a page of a tree.
    ///
    /// - Returns: Its number.
    func emitNext(_ page: inout PageAssembly, type: UInt8, rightChild: UInt32?) throws -> UInt32 {
        let number = try nextPage()
        try emit(&page, type: type, rightChild: rightChild, number: number)
        return number
    }

    func emitRoot(
        _ page: inout PageAssembly, type: UInt8, rightChild: UInt32?, _ kind: TreeKind, number: UInt32
    ) throws {
        guard number == 1, page.used > geometry.usableSize - DatabaseHeader.size else {
            return try emit(&page, type: type, rightChild: rightChild, number: number)
        }
        let child = try emitNext(&page, type: type, rightChild: rightChild)
        var root = PageAssembly(isLeaf: false, geometry)
        try emit(&root, type: kind.interiorType, rightChild: child, number: 1)
    }

    /// Writes a page of a tree; the first page is kept until `finish`.
    private func emit(_ page: inout PageAssembly, type: UInt8, rightChild: UInt32?, number: UInt32) throws {
        page.finish(type: type, rightChild: rightChild)
        if number == 1 {
            page.copyContent(behindHeaderOf: &firstPage)
        } else {
            try sink.write(page.bytes, number: number)
        }
        guard geometry.hasAutoVacuum else { return }
        for chain in page.chains { try point(chain.page, type: .firstOfChain, parent: number) }
        if let rightChild {
            for child in page.children { try point(child, type: .child, parent: number) }
            try point(rightChild, type: .child, parent: number)
        }
    }
}
