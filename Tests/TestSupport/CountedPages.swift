package import StoreFormat

/// Pages of which one knows how often they were read.
package final class CountedPages: PageSource {
    private let pages: any PageSource
    package private(set) var reads = 0

    package init(_ pages: any PageSource) { self.pages = pages }

    package var pageCount: UInt32 { pages.pageCount }

    package func read(_ number: UInt32, into page: inout [UInt8]) throws {
        reads += 1
        try pages.read(number, into: &page)
    }
}
