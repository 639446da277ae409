import StoreFormat

/// Pages of a store for as long as somebody wants what is made of them: a walk ends soon where nobody does.
struct PagesUntilClosed: PageSource {
    private let pages: any PageSource
    private let isClosed: @Sendable () -> Bool

    init(_ pages: any PageSource, _ isClosed: @escaping @Sendable () -> Bool) {
        self.pages = pages
        self.isClosed = isClosed
    }

    var pageCount: UInt32 { pages.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        guard !isClosed() else { throw CancellationError() }
        try pages.read(number, into: &page)
    }
}
