/// The pages of a file that have been read ahead, as they are read one after the other: the more in a row, the more at once.
///
/// Memory: 64 KiB, or one page.
package struct PagesAhead {
    private static let most = 64 * 1024

    private let pageSize: Int
    /// The bytes of the pages from `first` on.
    private var bytes: [UInt8] = []
    private var first: UInt32 = 0
    private var last: UInt32 = 0
    /// Pages that were read one after the other.
    private var inRow = 0

    package init(pageSize: Int) { self.pageSize = pageSize }

    /// Reads a page, or its beginning.
    ///
    /// - Parameters:
    ///   - rest: The pages of the file from this one on.
    ///   - read: Reads from an offset on into all of the bytes. It returns how many it has read, fewer only at the end of the file.
    /// - Returns: Whether it has been read: the file may have become shorter.
    package mutating func read(
        _ number: UInt32, of rest: UInt32, into page: inout [UInt8], _ read: (inout [UInt8], Int64) throws -> Int
    ) throws -> Bool {
        inRow = number == last &+ 1 ? inRow + 1 : 0
        last = number
        if take(number, into: &page) { return true }
        let offset = Int64(number - 1) * Int64(pageSize)
        let count = min(inRow + 1, Self.most / pageSize, Int(rest))
        guard count > 1, page.count == pageSize else { return try read(&page, offset) == page.count }
        if bytes.count != count * pageSize { bytes = Array(repeating: 0, count: count * pageSize) }
        first = 0
        guard try read(&bytes, offset) == bytes.count else { return try read(&page, offset) == page.count }
        first = number
        return take(number, into: &page)
    }

    private func take(_ number: UInt32, into page: inout [UInt8]) -> Bool {
        guard first > 0, number >= first, page.count <= pageSize else { return false }
        let start = Int(number - first) * pageSize
        guard start + page.count <= bytes.count else { return false }
        page.withUnsafeMutableBytes { target in
            bytes.withUnsafeBytes {
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<(start + target.count)]))
            }
        }
        return true
    }

    /// The file has changed.
    package mutating func forget() { (first, last, inRow) = (0, 0, 0) }
}
