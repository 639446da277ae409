import StoreFormat

/// All bytes of a file of pages.
struct FileBytes: ByteSource {
    private let pages: any PageSource
    private let pageSize: Int

    init(_ pages: any PageSource, pageSize: Int) {
        self.pages = pages
        self.pageSize = pageSize
    }

    var size: Int64 { Int64(pages.pageCount) * Int64(pageSize) }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws {
        var page = [UInt8](repeating: 0, count: pageSize)
        var place = range.lowerBound
        while place < range.upperBound {
            try pages.read(UInt32(place / Int64(pageSize)) + 1, into: &page)
            let offset = Int(place % Int64(pageSize))
            let count = min(pageSize - offset, Int(range.upperBound - place))
            bytes += page[offset..<(offset + count)]
            place += Int64(count)
        }
    }
}
