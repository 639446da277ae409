/// Where the pages of a store come from.
package protocol PageSource {
    /// Pages of the file.
    var pageCount: UInt32 { get }

    /// Reads one whole page.
    ///
    /// - Parameters:
    ///   - number: From 1 to `pageCount`.
    ///   - page: Of the page's size, or less; is filled with the page's beginning.
    func read(_ number: UInt32, into page: inout [UInt8]) throws
}

/// Which pages of a file belong to something: finds loops, pages that are used twice, and those that are not used.
package final class PageUse {
    private var words: [UInt64]
    private let pageCount: UInt32
    package private(set) var count = 0

    /// Takes one bit a page.
    package init(pageCount: UInt32) {
        self.pageCount = pageCount
        words = Array(repeating: 0, count: Int(pageCount) / 64 + 1)
    }

    /// - Throws: `.page` if it belongs to something already.
    func take(_ page: UInt32) throws(StoreFlaw) {
        let (word, bit) = (Int(page / 64), UInt64(1) << UInt64(page % 64))
        guard page <= pageCount else { throw .page(page, .number) }
        guard words[word] & bit == 0 else { throw .page(page, .usedTwice) }
        words[word] |= bit
        count += 1
    }
}
