/// The codes of an alphabet, which follow from their lengths.
///
/// Source: RFC 1951 section 3.2.2.
struct HuffmanCode {
    /// In bits; 0 for a symbol without a code.
    let lengths: [UInt8]
    /// With the first bit lowest, as a stream has them.
    let codes: [UInt16]

    /// - Parameter lengths: Each at most 15, of a code that is not oversubscribed.
    init(lengths: [UInt8]) {
        self.lengths = lengths
        var next = Self.firstCodes(lengths)
        codes = lengths.map { length in
            guard length > 0 else { return 0 }
            defer { next[Int(length)] += 1 }
            return UInt16(truncatingIfNeeded: next[Int(length)]).reversed(bits: Int(length))
        }
    }

    /// The code that takes the fewest bits.
    ///
    /// - Parameters:
    ///   - counts: How often each symbol is used.
    ///   - limit: The longest code, in bits; enough for all symbols.
    init(counts: [Int], limit: Int) {
        self.init(lengths: Self.lengths(counts, limit: limit))
    }

    /// The size of the codes, in bits, where each symbol is used so often.
    func bits(_ counts: [Int]) -> Int {
        zip(counts, lengths).reduce(0) { $0 + $1.0 * Int($1.1) }
    }

    private static func firstCodes(_ lengths: [UInt8]) -> [UInt32] {
        var counts = [UInt32](repeating: 0, count: DeflateFormat.longestCode + 1)
        for length in lengths where length > 0 { counts[Int(length)] += 1 }
        var first = counts
        var code: UInt32 = 0
        for length in 1...DeflateFormat.longestCode {
            code = (code + counts[length - 1]) << 1
            first[length] = code
        }
        return first
    }

    /// The package-merge algorithm. Each of `limit` rows holds the leaves, and packages of two neighbours in the row before. The lightest
    /// `2n - 2` of the last row are taken, with what is in their packages. A leaf's code is as long as the leaf is taken often.
    ///
    /// Source: L. Larmore, D. Hirschberg, "A fast algorithm for optimal length-limited Huffman codes", JACM 37 (1990).
    private static func lengths(_ counts: [Int], limit: Int) -> [UInt8] {
        var lengths = [UInt8](repeating: 0, count: counts.count)
        let leaves = counts.indices.filter { counts[$0] > 0 }.sorted { counts[$0] < counts[$1] }
        guard leaves.count > 1 else {
            for leaf in leaves { lengths[leaf] = 1 }
            return lengths
        }
        var row = leaves.map { (weight: counts[$0], isLeaf: true) }
        var rows = [row]
        for _ in 1..<limit {
            let packages = stride(from: 1, to: row.count, by: 2).map { row[$0 - 1].weight + row[$0].weight }
            row.removeAll(keepingCapacity: true)
            var package = 0
            for leaf in leaves {
                while package < packages.count, packages[package] < counts[leaf] {
                    row.append((packages[package], false))
                    package += 1
                }
                row.append((counts[leaf], true))
            }
            row += packages[package...].map { ($0, false) }
            rows.append(row)
        }
        var taken = 2 * leaves.count - 2
        for row in rows.reversed() {
            let ofLeaves = row.prefix(taken).count { $0.isLeaf }
            for leaf in leaves.prefix(ofLeaves) { lengths[leaf] += 1 }
            taken = 2 * (min(taken, row.count) - ofLeaves)
        }
        return lengths
    }
}

extension UInt16 {
    fileprivate func reversed(bits: Int) -> UInt16 {
        (0..<bits).reduce(0) { $0 << 1 | (self >> UInt16($1) & 1) }
    }
}
