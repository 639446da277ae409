/// The lengths of the codes that zlib makes for an alphabet.
///
/// zlib takes the two lightest nodes of a heap and joins them, until one node is left. Of nodes of the same weight it takes the less deep
/// one first. Where the depth is the same too, the places in the heap decide, so that this follows the steps of zlib's heap. Codes that
/// become too long are shortened: see `shorten`.
struct ZlibCodeLengths {
    /// The nodes that are not joined yet: a leaf is its symbol, a joined node a number from the size of the alphabet on.
    private var heap: [Int] = []
    /// The heap is in the order of these: counts, with the depth below in the 8 lowest bits.
    private var keys: [Int]
    private var parents: [Int]
    /// Nodes in the order in which they left the heap.
    private var taken: [Int] = []
    private let limit: Int

    /// - Parameters:
    ///   - counts: How often each symbol is used, altogether below 65,536.
    ///   - limit: Of a code's length, in bits; enough for all symbols.
    /// - Returns: At least two codes: those that are not used are of the lowest symbols.
    static func lengths(_ counts: [Int], limit: Int) -> [UInt8] {
        var tree = ZlibCodeLengths(counts, limit: limit)
        tree.join()
        return tree.lengths(count: counts.count)
    }

    private init(_ counts: [Int], limit: Int) {
        self.limit = limit
        keys = counts.map { $0 << 8 }
        keys.reserveCapacity(2 * counts.count)
        heap = counts.indices.filter { counts[$0] > 0 }
        while heap.count < 2 {
            let last = heap.last ?? -1
            let symbol = last < 2 ? last + 1 : 0
            heap.append(symbol)
            keys[symbol] = 1 << 8
        }
        parents = [Int](repeating: 0, count: 2 * counts.count)
        taken.reserveCapacity(2 * counts.count)
    }

    private mutating func join() {
        for index in (0..<(heap.count / 2)).reversed() { sift(index) }
        while heap.count > 1 {
            let first = heap[0]
            heap[0] = heap.removeLast()
            sift(0)
            let second = heap[0]
            taken += [first, second]
            let depth = max(keys[first] & 0xff, keys[second] & 0xff) + 1
            (parents[first], parents[second]) = (keys.count, keys.count)
            heap[0] = keys.count
            keys.append((keys[first] >> 8 + keys[second] >> 8) << 8 | depth)
            sift(0)
        }
        taken.append(heap[0])
    }

    /// Moves a node down until none below it comes before it.
    private mutating func sift(_ start: Int) {
        let node = heap[start]
        var index = start
        while true {
            var child = 2 * index + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, keys[heap[child + 1]] <= keys[heap[child]] { child += 1 }
            if keys[node] <= keys[heap[child]] { break }
            heap[index] = heap[child]
            index = child
        }
        heap[index] = node
    }

    /// - Parameter count: Of symbols.
    private func lengths(count: Int) -> [UInt8] {
        var lengths = [Int](repeating: 0, count: keys.count)
        var leaves = [Int](repeating: 0, count: limit + 1)
        var tooLong = 0
        for node in taken.reversed().dropFirst() {
            lengths[node] = lengths[parents[node]] + 1
            if lengths[node] > limit {
                lengths[node] = limit
                tooLong += 1
            }
            if node < count { leaves[lengths[node]] += 1 }
        }
        if tooLong > 0 { shorten(&lengths, leaves, tooLong, count) }
        return lengths[..<count].map { UInt8($0) }
    }

    /// Moves leaves that are too deep beside leaves further up. Then gives the lengths to the leaves anew: those that left the heap first
    /// get the longest.
    ///
    /// - Parameters:
    ///   - leaves: How many there are of each length.
    ///   - tooLong: How many nodes, leaves or not, were deeper than the limit.
    private func shorten(_ lengths: inout [Int], _ leaves: [Int], _ tooLong: Int, _ count: Int) {
        var leaves = leaves
        for _ in stride(from: 0, to: tooLong, by: 2) {
            let length = leaves[..<limit].lastIndex { $0 > 0 } ?? 0
            leaves[length] -= 1
            leaves[length + 1] += 2
            leaves[limit] -= 1
        }
        var symbols = taken.lazy.filter { $0 < count }.makeIterator()
        for length in stride(from: limit, to: 0, by: -1) {
            for _ in 0..<leaves[length] {
                guard let symbol = symbols.next() else { return }
                lengths[symbol] = length
            }
        }
    }
}
