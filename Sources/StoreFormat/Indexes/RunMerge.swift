/// Merges the runs of a file.
final class RunMerge {
    /// Bytes of all runs together that are in memory.
    private static let size = 4 * 1024 * 1024

    private let readers: [RunReader]
    private let order: IndexOrder
    /// The least entry is at the top.
    private var heap: [Int]

    init(_ runs: [Range<Int64>], of file: any SpillFile, _ order: IndexOrder) throws {
        let piece = max(4096, Self.size / max(1, runs.count))
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
        while true {
            var start = position
            let size = Varint.read(buffer.span, at: &start)
            if let size, size <= UInt64(buffer.count - start) {
                position = start + Int(size)
                entry = Array(buffer[start..<position])
                prefix = order.prefix(of: entry.span)
                return true
            }
            guard !rest.isEmpty else { return false }
            // All of a long entry at once; there may be thousands of runs, so none holds room for one.
            let count = min(max(piece, Int(clamping: size ?? 0)), rest.count)
            buffer.removeSubrange(..<position)
            position = 0
            buffer += try file.read(count, at: rest.lowerBound)
            rest = (rest.lowerBound + Int64(count))..<rest.upperBound
        }
    }
}
