/// Gives the pages of a store.
package protocol PageSource {
    /// Pages of the file.
    var pageCount: UInt32 { get }

    /// Reads one page, or its beginning.
    ///
    /// - Parameters:
    ///   - number: From 1 to `pageCount`.
    ///   - page: At most of the page's size; `read` fills all of it.
    func read(_ number: UInt32, into page: inout [UInt8]) throws
}
