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

/// The same of bytes.
struct BytesUntilClosed: ByteSource {
    private let bytes: any ByteSource
    private let isClosed: @Sendable () -> Bool

    init(_ bytes: any ByteSource, _ isClosed: @escaping @Sendable () -> Bool) {
        self.bytes = bytes
        self.isClosed = isClosed
    }

    var size: Int64 { bytes.size }

    func append(_ range: Range<Int64>, to bytes: inout [UInt8]) throws {
        guard !isClosed() else { throw CancellationError() }
        try self.bytes.append(range, to: &bytes)
    }
}
