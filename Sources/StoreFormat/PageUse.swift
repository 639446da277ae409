/// Notes which pages of a file are in use: it finds loops, pages that are used twice, and unused pages.
package final class PageUse {
    private var words: [UInt64]
    private let pageCount: UInt32
    package private(set) var count = 0

    /// Takes one bit a page.
    package init(pageCount: UInt32) {
        self.pageCount = pageCount
        words = Array(repeating: 0, count: Int(pageCount) / 64 + 1)
    }

    /// - Throws: `.page` if it is in use already.
    func take(_ page: UInt32) throws(StoreFlaw) {
        let (word, bit) = (Int(page / 64), UInt64(1) << UInt64(page % 64))
        guard page <= pageCount else { throw .page(page, .number) }
        guard words[word] & bit == 0 else { throw .page(page, .usedTwice) }
        words[word] |= bit
        count += 1
    }
}
