extension DecimalLayout {
    /// How many strings the search looks at, or up to twice as many, and at most how many bytes of each.
    private static let (looked, lookedBytes) = (16, 1024)

    /// How strings spell the numbers that they hold: of each line the first, the second and so on, over and over.
    ///
    /// - Returns: By field; `nil` if the strings hold few numbers, or numbers that take no fewer bytes apart.
    static func layouts(of strings: Strings) -> [DecimalLayout]? {
        var sample: [UInt8] = []
        for index in stride(from: 0, to: strings.count, by: max(1, strings.count / looked)) {
            sample += strings[index].prefix(lookedBytes) + [UInt8(ascii: "\n")]
        }
        return sample.withUnsafeBufferPointer { text in
            var numerals: [Numeral] = []
            let free = Numeral.scan(text) { if $0.isPlain { numerals.append($0) } }
            let size = numerals.reduce(0) { $0 + $1.end - $1.whole.lowerBound }
            guard free > 0, size * 8 >= text.count else { return nil }
            // As text a digit takes four bits at most. A sixteenth less, or the simplest.
            var best: (layouts: [DecimalLayout]?, bits: Int) = (nil, 4 * size)
            for count in 1...free {
                let fields = (0..<count).map { field in numerals.filter { $0.place % count == field } }
                let layouts = fields.map { DecimalLayout(of: $0, in: text) }
                let bits = zip(fields, layouts).reduce(0) { $0 + $1.1.bits(of: $1.0, in: text) }
                if bits < best.bits - (best.layouts == nil ? 0 : best.bits / 16) { best = (layouts, bits) }
            }
            return best.layouts
        }
    }

    private init(of numerals: [Numeral], in text: UnsafeBufferPointer<UInt8>) {
        // Enough for nearly all.
        let fractions = numerals.map { $0.cleanFraction(in: text) }.sorted()
        digits = min(fractions.isEmpty ? 0 : fractions[fractions.count * 15 / 16], Self.mostDigits)
        // Whoever writes no zeros at the end of a fraction may write none at all.
        let full = numerals.filter { [digits] in $0.fraction == digits }
        let hasZeros = full.count { text[$0.end - 1] == UInt8(ascii: "0") } * 40 >= max(1, full.count)
        let hasWhole = fractions.prefix { $0 == 0 }.count * 20 >= fractions.count
        least = hasZeros ? digits : hasWhole ? 0 : min(1, digits)
    }

    /// What numbers take, by estimate: their own bits or those of their steps, and four for each digit that stays in the text.
    private func bits(of numerals: [Numeral], in text: UnsafeBufferPointer<UInt8>) -> Int {
        let taken = numerals.map { number(of: $0, in: text) }
        let left = zip(numerals, taken).reduce(0) { $0 + $1.0.end - ($1.1?.range.upperBound ?? $1.0.whole.lowerBound) }
        let numbers = taken.compactMap { $0?.number }
        let mean = IntegerFacts(numbers).map { min($0.meanBits, $0.meanDeltaBits) + 1 } ?? 0
        return mean * numbers.count + 4 * left
    }
}
