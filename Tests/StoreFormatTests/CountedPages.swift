import StoreFormat

/// Pages of which one knows how often they were read.
final class CountedPages: PageSource {
    private let pages: any PageSource
    private(set) var reads = 0

    init(_ pages: any PageSource) { self.pages = pages }

    var pageCount: UInt32 { pages.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        reads += 1
        try pages.read(number, into: &page)
    }
}
