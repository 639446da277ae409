/// Sorts the entries of an index; entries that compare equal keep their order.
///
/// Memory: entries up to `runSize`, and 24 bytes for each of them. It sorts more entries in runs, spills and merges these.
package struct EntrySorter {
    /// Most bytes of a run.
    package static let runSize = 4 * 1024 * 1024
    /// Most entries of a run.
    private static let mostEntries = 1 << 19

    private let order: IndexOrder
    private let runSize: Int
    private let spill: () throws -> any SpillFile
    private var file: (any SpillFile)?
    private var runs: [Range<Int64>] = []
    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    private struct Entry {
        let prefix: UInt64
        let start: UInt32
        let size: UInt32

        var range: Range<Int> { Int(start)..<(Int(start) + Int(size)) }
    }

    /// - Parameter spill: Makes an empty file; called once at most.
    package init(_ shape: IndexShape, runSize: Int = EntrySorter.runSize, spill: @escaping () throws -> any SpillFile) {
        order = IndexOrder(shape)
        self.runSize = runSize
        self.spill = spill
    }

    /// Takes an entry that `make` appends.
    ///
    /// - Returns: What `make` returns: whether there is one.
    package mutating func add(_ make: (inout [UInt8]) -> Bool) throws -> Bool {
        if bytes.count >= runSize || entries.count >= Self.mostEntries { try spillRun() }
        // An array that grows by itself doubles, and is in memory twice while it is copied.
        if bytes.count > runSize / 2, bytes.capacity < runSize + IndexShape.longestEntry {
            bytes.reserveCapacity(runSize + IndexShape.longestEntry)
        }
        let start = bytes.count
        guard make(&bytes) else { return false }
        let prefix = order.prefix(of: bytes.span.extracting(start..<bytes.count))
        entries.append(Entry(prefix: prefix, start: UInt32(start), size: UInt32(bytes.count - start)))
        return true
    }

    /// Hands out all entries in order.
    package mutating func drain(_ body: (Span<UInt8>) throws -> Void) throws {
        var sorted = try sorted()
        while try sorted.next(body) {}
    }

    /// All entries in order. The sorter is empty then.
    package mutating func sorted() throws -> SortedEntries {
        defer { (bytes, entries) = ([], []) }
        guard !runs.isEmpty else {
            sort()
            return SortedEntries(.held(bytes, entries.map(\.range)))
        }
        try spillRun()
        guard let file else { return SortedEntries(.held([], [])) }
        return SortedEntries(.merged(try RunMerge(runs, of: file, order)))
    }

    private mutating func sort() {
        let (order, bytes) = (order, bytes)
        entries.sort { left, right in
            if left.prefix != right.prefix { return left.prefix < right.prefix }
            let all = bytes.span
            let result = order.compare(all.extracting(left.range), all.extracting(right.range))
            return result == 0 ? left.start < right.start : result < 0
        }
    }

    private mutating func spillRun() throws {
        guard !entries.isEmpty else { return }
        sort()
        let target: any SpillFile
        if let file { target = file } else { target = try spill() }
        file = target
        let start = runs.last?.upperBound ?? 0
        var end = start
        var gathered: [UInt8] = []
        for entry in entries {
            Varint.append(UInt64(entry.size), to: &gathered)
            gathered += bytes[entry.range]
            if gathered.count >= 1 << 20 {
                try target.append(gathered)
                end += Int64(gathered.count)
                gathered.removeAll(keepingCapacity: true)
            }
        }
        try target.append(gathered)
        runs.append(start..<(end + Int64(gathered.count)))
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }
}
