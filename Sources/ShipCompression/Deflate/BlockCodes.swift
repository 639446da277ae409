/// The codes of a dynamic block, and its head, which gives their lengths.
struct BlockCodes {
    let symbols: HuffmanCode
    let distances: HuffmanCode
    /// Numbers, and how many bits each takes.
    let head: [(value: UInt64, bits: Int)]

    /// How far counts may be from their neighbours to be replaced by their mean.
    private static let tolerances = 0...4

    /// The codes that take the fewest bits together with their head. Where neighbouring counts differ by little, the best codes need a long
    /// head: from equal counts come codes of one length, and the head gives a run of them at once.
    static func best(for counts: TokenCounts) -> BlockCodes {
        var (best, least) = (BlockCodes(counts), Int.max)
        for tolerance in tolerances {
            let codes = tolerance == 0 ? best : BlockCodes(counts.evened(within: tolerance))
            let bits = codes.bits(counts)
            if bits < least { (best, least) = (codes, bits) }
        }
        return best
    }

    /// The size of the head and of the codes of tokens.
    func bits(_ counts: TokenCounts) -> Int {
        head.reduce(0) { $0 + $1.bits } + symbols.bits(counts.symbols) + distances.bits(counts.distances)
    }

    /// The codes that fit the counts best.
    init(_ counts: TokenCounts) {
        symbols = HuffmanCode(counts: counts.symbols, limit: DeflateFormat.longestCode)
        var used = counts.distances
        // Some decoders want one code even where there is no match.
        if used.allSatisfy({ $0 == 0 }) { used[0] = 1 }
        distances = HuffmanCode(counts: used, limit: DeflateFormat.longestCode)
        let (ofSymbols, ofDistances) = Self.given(symbols, distances)
        head = Self.head(ofSymbols.count, ofDistances.count, Self.steps(ofSymbols + ofDistances)) {
            HuffmanCode(counts: $0, limit: DeflateFormat.longestLengthCode)
        }
    }

    /// The codes that zlib makes of the counts. Its runs do not go from the symbols on into the distances.
    init(zlib counts: TokenCounts) {
        func code(_ counts: [Int], _ limit: Int) -> HuffmanCode {
            HuffmanCode(lengths: ZlibCodeLengths.lengths(counts, limit: limit))
        }
        symbols = code(counts.symbols, DeflateFormat.longestCode)
        distances = code(counts.distances, DeflateFormat.longestCode)
        let (ofSymbols, ofDistances) = Self.given(symbols, distances)
        head = Self.head(ofSymbols.count, ofDistances.count, Self.steps(ofSymbols) + Self.steps(ofDistances)) {
            code($0, DeflateFormat.longestLengthCode)
        }
    }

    /// The lengths of the codes that the head gives: up to the last code that is used.
    private static func given(_ symbols: HuffmanCode, _ distances: HuffmanCode) -> (
        symbols: [UInt8], distances: [UInt8]
    ) {
        (symbols.lengths.withoutLastZeros(least: 257), distances.lengths.withoutLastZeros(least: 1))
    }

    /// - Parameter lengthCode: Makes the code of the steps, of how often each step is used.
    private static func head(
        _ symbolCount: Int, _ distanceCount: Int, _ steps: [(symbol: Int, more: Int, bits: Int)],
        lengthCode: ([Int]) -> HuffmanCode
    ) -> [(value: UInt64, bits: Int)] {
        var counts = [Int](repeating: 0, count: DeflateFormat.lengthCodeOrder.count)
        for step in steps { counts[step.symbol] += 1 }
        let code = lengthCode(counts)
        let lengths = DeflateFormat.lengthCodeOrder.map { code.lengths[$0] }.withoutLastZeros(least: 4)
        var head = [(UInt64(symbolCount - 257), 5), (UInt64(distanceCount - 1), 5), (UInt64(lengths.count - 4), 4)]
        head += lengths.map { (UInt64($0), 3) }
        for step in steps {
            head.append((UInt64(code.codes[step.symbol]), Int(code.lengths[step.symbol])))
            if step.bits > 0 { head.append((UInt64(step.more), step.bits)) }
        }
        return head
    }

    /// The lengths of codes as the head gives them: single lengths, and runs of a length.
    private static func steps(_ lengths: [UInt8]) -> [(symbol: Int, more: Int, bits: Int)] {
        var steps: [(symbol: Int, more: Int, bits: Int)] = []
        var start = 0
        while start < lengths.count {
            let length = lengths[start]
            var run = lengths[start...].prefix { $0 == length }.count
            start += run
            if length > 0 {
                steps.append((Int(length), 0, 0))
                run -= 1
            }
            while run >= 3 {
                let (symbol, least, most, bits) =
                    length > 0 ? (16, 3, 6, 2) : run > 10 ? (18, 11, 138, 7) : (17, 3, 10, 3)
                let taken = min(run, most)
                steps.append((symbol, taken - least, bits))
                run -= taken
            }
            steps += repeatElement((symbol: Int(length), more: 0, bits: 0), count: run)
        }
        return steps
    }
}

extension [UInt8] {
    fileprivate func withoutLastZeros(least: Int) -> [UInt8] {
        Array(prefix(Swift.max(least, (lastIndex { $0 != 0 } ?? 0) + 1)))
    }
}
