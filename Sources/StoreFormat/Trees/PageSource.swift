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

/// Where the pages of a store go that is being written.
package protocol PageSink: AnyObject {
    /// Takes one whole page. Each comes once, in no order that could be counted on.
    func write(_ page: [UInt8], number: UInt32) throws
    /// Takes an entry of a pointer map page: 5 bytes at an offset. Where no entry comes, there are zeros.
    func writePointer(_ entry: (type: UInt8, parent: UInt32), map: UInt32, offset: Int) throws
}
