import StoreFormat

/// Which pages a file still has in common with the file that it is a clone of: both have them in the same blocks of the medium.
///
/// A new version of a store differs from the last one in few pages. On file systems that clone (btrfs, XFS, APFS) only these are written.
final class SharedPages {
    private let base: OpenFile
    private let pageSize: Int
    /// A value for each page of the base.
    private var isShared: [Bool]
    private var found: [UInt8] = []

    /// - Parameters:
    ///   - base: Does not change any more. A clone of it has just been made.
    ///   - pageSize: In bytes.
    init(with base: consuming OpenFile, pageSize: Int) throws(FileError) {
        isShared = Array(repeating: true, count: Int(clamping: try base.size / Int64(pageSize)))
        self.base = base
        self.pageSize = pageSize
    }

    /// Reads a page from the base, which the cache of the system is more likely to have.
    ///
    /// - Returns: Whether the clone still has that very page.
    func read(_ number: UInt32, into page: inout [UInt8]) throws(FileError) -> Bool {
        guard isShared(number) else { return false }
        return try base.read(into: &page, at: offset(of: number)) == page.count
    }

    /// Finds what of consecutive pages has to be written. From then on these pages are not shared.
    ///
    /// - Parameters:
    ///   - run: The bytes of the pages.
    ///   - first: The number of the first one.
    /// - Returns: Ranges of `run`, in order, as few as possible.
    func changes(in run: [UInt8], from first: UInt32) -> [Range<Int>] {
        if found.count != run.count { found = Array(repeating: 0, count: run.count) }
        // What cannot be read is written.
        let count = (try? base.read(into: &found, at: offset(of: first))) ?? 0
        var changes: [Range<Int>] = []
        for start in stride(from: 0, to: run.count, by: pageSize) {
            let page = start..<min(start + pageSize, run.count)
            let number = first + UInt32(start / pageSize)
            if isShared(number), page.upperBound <= count, run.hasSameBytes(as: found, in: page) { continue }
            replace(number)
            if changes.last?.upperBound == page.lowerBound {
                changes[changes.count - 1] = changes[changes.count - 1].lowerBound..<page.upperBound
            } else {
                changes.append(page)
            }
        }
        return changes
    }

    /// The page is written.
    func replace(_ number: UInt32) {
        if isShared(number) { isShared[Int(number) - 1] = false }
    }

    private func isShared(_ number: UInt32) -> Bool { number <= isShared.count && isShared[Int(number) - 1] }

    private func offset(of number: UInt32) -> Int64 { Int64(number - 1) * Int64(pageSize) }
}
