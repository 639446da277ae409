/// Decodes the next symbol of a code in one look.
struct HuffmanTable {
    /// Indexed by the next bits, the first one lowest: the symbol, and in 4 bits the length of its code; 0 for no symbol.
    private let entries: [UInt16]
    /// How many bits an index has.
    let width: Int

    init(lengths: [UInt8]) {
        let code = HuffmanCode(lengths: lengths)
        width = Int(lengths.max() ?? 0)
        var entries = [UInt16](repeating: 0, count: 1 << width)
        for (symbol, length) in lengths.enumerated() where length > 0 {
            let entry = UInt16(truncatingIfNeeded: symbol << 4) | UInt16(length)
            for place in stride(from: Int(code.codes[symbol]), to: entries.count, by: 1 << Int(length)) {
                entries[place] = entry
            }
        }
        self.entries = entries
    }

    /// - Parameter next: At least `width` bits.
    /// - Returns: A length of 0 for no symbol.
    @inline(__always)
    func symbol(_ next: UInt64) -> (symbol: Int, length: Int) {
        let entry = entries[Int(truncatingIfNeeded: next) & (entries.count &- 1)]
        return (Int(entry >> 4), Int(entry & 0xf))
    }
}
