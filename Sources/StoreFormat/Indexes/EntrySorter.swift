/// A file for entries that do not fit into memory.
package protocol SpillFile: AnyObject {
    func append(_ bytes: [UInt8]) throws
    /// Reads up to `count` bytes, fewer only at the end.
    func read(_ count: Int, at offset: Int64) throws -> [UInt8]
}

/// The space on a disk that spill files take. It counts each byte, so that they do not fill a disk on which space has to stay free.
package protocol SpillSpace: Sendable {
    /// Called before bytes are written.
    ///
    /// - Throws: If there is no room for them.
    func take(_ bytes: Int64) throws
    /// Called after they were written.
    func wrote(_ bytes: Int64)
    /// Called when bytes are off the disk again.
    func giveBack(_ bytes: Int64)
}

/// Sorts the entries of an index; entries that compare equal keep their order.
///
/// Memory: entries up to `runSize`, and 24 bytes for each of them. It sorts more entries in runs, spills and merges these.
package struct EntrySorter {
    /// Most bytes of a run.
    package static let runSize = 4 * 1024 * 1024
    /// Most entries of a run.
    private static let mostEntries = 1 << 19
    /// Bytes of all runs together that are in memory during the merge.
    private static let mergeSize = 4 * 1024 * 1024

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
    package init(
        _ shape: IndexShape, runSize: Int = EntrySorter.runSize, spill: @escaping () throws -> any SpillFile
    ) {
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
        return try SortedEntries(merging: runs, of: file, order, mergeSize: Self.mergeSize)
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

/// Sorted entries, one after the other.
package struct SortedEntries {
    fileprivate enum Source {
        /// The rest of them.
        case held([UInt8], [Range<Int>])
        case merged(RunMerge)
    }

    private let source: Source
    private var place = 0

    fileprivate init(_ source: Source) { self.source = source }

    fileprivate init(
        merging runs: [Range<Int64>], of file: any SpillFile, _ order: IndexOrder, mergeSize: Int
    ) throws {
        source = .merged(try RunMerge(runs, of: file, order, mergeSize: mergeSize))
    }

    /// Hands out the next entry.
    ///
    /// - Returns: Whether there was one.
    package mutating func next(_ body: (Span<UInt8>) throws -> Void) throws -> Bool {
        switch source {
        case .held(let bytes, let ranges):
            guard place < ranges.count else { return false }
            try body(bytes.span.extracting(ranges[place]))
            place += 1
            return true
        case .merged(let merge): return try merge.next(body)
        }
    }
}

/// Merges the runs of a file.
private final class RunMerge {
    private let readers: [RunReader]
    private let order: IndexOrder
    /// The least entry is at the top.
    private var heap: [Int]

    init(_ runs: [Range<Int64>], of file: any SpillFile, _ order: IndexOrder, mergeSize: Int) throws {
        let piece = max(4096, mergeSize / max(1, runs.count))
        readers = try runs.compactMap { run in try RunReader(file, run, order, piece: piece) }
        self.order = order
        heap = Array(readers.indices)
        heap.sort(by: isBefore)
    }

    private func isBefore(_ left: Int, _ right: Int) -> Bool {
        let (first, second) = (readers[left], readers[right])
        if first.prefix != second.prefix { return first.prefix < second.prefix }
        let (entry, other) = (first.entry, second.entry)
        let result = order.compare(entry.span, other.span)
        return result == 0 ? left < right : result < 0
    }

    func next(_ body: (Span<UInt8>) throws -> Void) throws -> Bool {
        guard let top = heap.first else { return false }
        let entry = readers[top].entry
        try body(entry.span)
        if try !readers[top].advance() {
            heap.swapAt(0, heap.count - 1)
            heap.removeLast()
        }
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < heap.count && isBefore(heap[child], heap[least]) {
                least = child
            }
            guard least != place else { return true }
            heap.swapAt(place, least)
            place = least
        }
    }
}

/// The entries of one run, read piece by piece.
private final class RunReader {
    private let file: any SpillFile
    private var rest: Range<Int64>
    private let order: IndexOrder
    private let piece: Int
    private var buffer: [UInt8] = []
    private var position = 0
    private(set) var entry: [UInt8] = []
    private(set) var prefix: UInt64 = 0

    /// - Returns: `nil` for an empty run.
    init?(_ file: any SpillFile, _ run: Range<Int64>, _ order: IndexOrder, piece: Int) throws {
        self.file = file
        rest = run
        self.order = order
        self.piece = piece
        guard try advance() else { return nil }
    }

    /// - Returns: Whether there was another entry.
    func advance() throws -> Bool {
        // As much as the longest entry needs.
        if buffer.count - position < IndexShape.longestEntry + Varint.longest, !rest.isEmpty {
            let count = Int(min(Int64(max(piece, IndexShape.longestEntry + Varint.longest)), Int64(rest.count)))
            buffer.removeSubrange(..<position)
            position = 0
            let read = try file.read(count, at: rest.lowerBound)
            buffer += read
            rest = (rest.lowerBound + Int64(read.count))..<rest.upperBound
        }
        var start = position
        guard let size = Varint.read(buffer.span, at: &start), size <= UInt64(buffer.count - start) else {
            return false
        }
        position = start + Int(size)
        entry = Array(buffer[start..<position])
        prefix = order.prefix(of: entry.span)
        return true
    }
}
