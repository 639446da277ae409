import ShipCompression

/// The fields that the decimal numbers of strings belong to: those of one field resemble each other.
struct DecimalFields {
    /// How many strings the search looks at, at least, and at most how many bytes of all and of each.
    private static let (looked, lookedBytes) = (16, 1 << 14)
    private static let longest = 1024
    /// How many bytes of strings tell how their numbers are spelled, about.
    private static let adaptedBytes = 1 << 16
    /// Fields by their places in a line: as a rule of a line that comes over and over.
    private static let mostPlaces = 8
    /// How far the text around a number tells it from others.
    private static let (longestReach, shortestReach) = (8, 2)

    /// What tells to which field a number belongs.
    private enum Order {
        /// Its place in its line: the first, the second and so on, over and over.
        case places(Int)
        /// The text around it, as far as `reach`. If they are chained, those that follow each other without words between are told apart by
        /// the one before, too.
        case surroundings([UInt32: Int], reach: Int, isChained: Bool)
    }

    private let order: Order
    /// By field.
    private(set) var layouts: [DecimalLayout]
    /// How much more a cost counts, as numbers that stand elsewhere too are found there as text; `nil` for strings that differ in their digits
    /// alone.
    private var scattered: Double?
    /// Of the last number in this line.
    private var last: UInt32 = 0

    /// The field of a number; `nil` if it stays in the text. It has to be asked for each number, in their order.
    mutating func field(of numeral: Numeral, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        switch order {
        case .places(let count): numeral.isPlain ? numeral.place % count : nil
        case .surroundings(let fields, _, _): fields[key(of: numeral, in: text)]
        }
    }

    private mutating func key(of numeral: Numeral, in text: UnsafeBufferPointer<UInt8>) -> UInt32 {
        guard case .surroundings(_, let reach, let isChained) = order else { return 0 }
        let (hash, hasWord) = numeral.surroundings(in: text, reach: reach)
        last = isChained && !hasWord && !numeral.isFirstInLine ? hash &+ last &* 31 : hash
        return last
    }

    /// - Parameters:
    ///   - areAlike: Whether the strings differ in their digits alone.
    ///   - contents: Of the segment, where the numbers may stand, too.
    /// - Returns: `nil` if the strings hold few numbers, or numbers that take no fewer bytes apart.
    init?(of strings: Strings, areAlike: Bool, in contents: [[UInt8]]) {
        let sample = Self.sample(of: strings)
        guard let best = sample.withUnsafeBufferPointer({ Self.best(in: $0) }) else { return nil }
        self = best
        adapt(to: strings)
        if !areAlike { scattered = scattered(strings, in: contents) }
    }

    /// What a cost is compared by: no trial sees what is found where it stands.
    ///
    /// - Parameter found: How much of the strings stands elsewhere.
    func weighed(_ cost: Int, found: Double) -> Int {
        guard let scattered else { return cost }
        return cost + Int(Double(cost) * (scattered + found))
    }

    private func scattered(_ strings: Strings, in contents: [[UInt8]]) -> Double {
        let looked = strings.selecting((0..<strings.count).sampled(4 * Self.looked))
        var (fields, tokens, size) = (self, [ArraySlice<UInt8>](), 0)
        for index in 0..<looked.count {
            looked[index].withUnsafeBufferPointer { text in
                _ = Numeral.scan(text) { numeral in
                    guard fields.field(of: numeral, in: text) != nil else { return }
                    let digits = numeral.end - numeral.whole.lowerBound
                    tokens.append(looked[index].prefix(numeral.end).suffix(max(TokenSearch.keySize, digits)))
                    // Without the digits amid its letters no part of an identifier is found.
                    size += numeral.isPlain ? digits : 4 * digits
                }
            }
        }
        let share = TokenSearch.share(of: tokens, in: contents, besides: strings)
        return 1 / 16 + share * min(1, 2 * Double(size) / Double(max(1, looked.totalLength)))
    }

    /// The beginnings of a few strings, and where these are long something of what follows, line by line.
    private static func sample(of strings: Strings) -> [UInt8] {
        let rows = (0..<strings.count).sampled(2 * looked)
        let size = min(longest, lookedBytes / max(1, rows.count))
        var sample: [UInt8] = []
        for (number, row) in rows.enumerated() {
            let string = strings[row]
            guard string.count > size else {
                sample += string + [UInt8(ascii: "\n")]
                continue
            }
            let further = string.dropFirst(size / 2 + (string.count - size) * (number % 8) / 8)
            let beginning = further.prefix(64).firstIndex { openings.contains($0) } ?? further.startIndex
            for part in [string.prefix(size / 2), further[beginning...].prefix(size / 2)] {
                sample += part + [UInt8(ascii: "\n")]
            }
        }
        return sample
    }

    /// Bytes before what is like a line of its own.
    private static let openings = Array("\n[{(".utf8)

    private static func best(in text: UnsafeBufferPointer<UInt8>) -> DecimalFields? {
        var numerals: [Numeral] = []
        let free = Numeral.scan(text) { numerals.append($0) }
        let size = numerals.reduce(0) { $0 + $1.end - $1.whole.lowerBound }
        guard free > 0, size * 8 >= text.count else { return nil }
        func keys(reach: Int, isChained: Bool) -> [UInt32] {
            var fields = DecimalFields(.surroundings([:], reach: reach, isChained: isChained), [])
            return numerals.map { fields.key(of: $0, in: text) }
        }
        let search = FieldSearch(numerals, keys(reach: longestReach, isChained: true), in: text)
        let candidates =
            [(longestReach, true), (longestReach, false), (shortestReach, false)].map { reach, isChained in
                let fields = search.fields(of: keys(reach: reach, isChained: isChained), most: free)
                return Order.surroundings(fields, reach: reach, isChained: isChained)
            } + (1...min(free, mostPlaces)).map(Order.places)
        // A sixteenth less, or the one that mixes fewer kinds of numbers.
        var best: (fields: DecimalFields?, bits: Int) = (nil, search.textBits)
        for order in candidates {
            var fields = DecimalFields(order, [])
            let (layouts, bits) = search.weighed(numerals.map { fields.field(of: $0, in: text) })
            fields = DecimalFields(order, layouts)
            if bits < best.bits - (best.fields == nil ? 0 : best.bits / 16) { best = (fields, bits) }
        }
        return best.fields
    }

    private init(_ order: Order, _ layouts: [DecimalLayout]) {
        self.order = order
        self.layouts = layouts
    }

    /// A few strings do not show whether all have zeros in front.
    private mutating func adapt(to strings: Strings) {
        var (fields, widths) = (self, [DecimalLayout.Widths](repeating: .init(), count: layouts.count))
        let most = strings.count * Self.adaptedBytes / max(1, strings.totalLength)
        for index in (0..<strings.count).sampled(max(Self.looked, most)) {
            strings[index].withUnsafeBufferPointer { text in
                _ = Numeral.scan(text) { numeral in
                    if let field = fields.field(of: numeral, in: text), field < widths.count {
                        widths[field].count(numeral)
                    }
                }
            }
        }
        layouts = zip(layouts, widths).map { $0.adapted(to: $1) }
    }
}
