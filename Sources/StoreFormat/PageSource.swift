/// Gives the pages of a store.
package protocol PageSource {
    var pageCount: UInt32 { get }

    /// Reads one page, or its beginning.
    ///
    /// - Parameters:
    ///   - number: From 1 to `pageCount`.
    ///   - page: At most of the page's size; `read` fills all of it.
    func read(_ number: UInt32, into page: inout [UInt8]) throws
}

extension PageSource {
    /// The first 100 bytes of the file.
    package var header: [UInt8] {
        get throws {
            var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
            try read(1, into: &header)
            return header
        }
    }
}
