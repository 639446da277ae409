/// Weighs how decimal numbers may be told apart, by estimates of what they take.
struct FieldSearch {
    /// Texts around fewer numerals do not show whether these are alike.
    private static let fewest = 4

    private let text: UnsafeBufferPointer<UInt8>
    private let numerals: [Numeral]
    /// What each takes in the text: a digit four bits at most, and nothing if all with the same text around them have it.
    private var bits: [Int]

    /// - Parameter text: It has to stay while the search is used.
    init(_ numerals: [Numeral], _ keys: [UInt32], in text: UnsafeBufferPointer<UInt8>) {
        (self.numerals, self.text) = (numerals, text)
        bits = numerals.map { 4 * ($0.end - $0.whole.lowerBound) }
        for group in Self.groups(keys).values where group.count >= Self.fewest {
            let first = text[numerals[group[0]].whole.lowerBound..<numerals[group[0]].end]
            let shared = group.reduce(first.count) { shared, index in
                let digits = text[numerals[index].whole.lowerBound..<numerals[index].end]
                return zip(first.prefix(shared), digits).prefix { $0 == $1 }.count
            }
            for index in group { bits[index] -= 4 * shared }
        }
    }

    /// All that they take in the text.
    var textBits: Int { bits.reduce(0, +) }

    /// Fields for the keys whose numbers take fewer bits apart, those first that save most.
    ///
    /// - Parameters:
    ///   - keys: Of each numeral.
    ///   - most: How many fields there may be.
    func fields(of keys: [UInt32], most: Int) -> [UInt32: Int] {
        var saving: [(key: UInt32, bits: Int)] = []
        for (key, group) in Self.groups(keys) where group.count >= max(Self.fewest, numerals.count / 64) {
            let members = group.map { numerals[$0] }
            let apart = DecimalLayout(of: members, in: text).bits(of: members, in: text)
            let saved = group.reduce(-apart) { $0 + bits[$1] }
            if saved > 0 { saving.append((key, saved)) }
        }
        let ordered = saving.sorted { ($0.bits, $0.key) > ($1.bits, $1.key) }.prefix(most)
        return Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1.key, $0) })
    }

    /// - Parameter fields: Of each numeral; `nil` for one that stays in the text.
    /// - Returns: The layouts of the fields, and what the numerals take then.
    func weighed(_ fields: [Int?]) -> (layouts: [DecimalLayout], bits: Int) {
        var members = [[Numeral]](repeating: [], count: (fields.compactMap(\.self).max() ?? -1) + 1)
        var left = 0
        for (index, field) in fields.enumerated() {
            if let field { members[field].append(numerals[index]) } else { left += bits[index] }
        }
        let layouts = members.map { DecimalLayout(of: $0, in: text) }
        return (layouts, zip(members, layouts).reduce(left) { $0 + $1.1.bits(of: $1.0, in: text) })
    }

    /// The numerals of each key, by their indexes.
    private static func groups(_ keys: [UInt32]) -> [UInt32: [Int]] { Dictionary(grouping: keys.indices) { keys[$0] } }
}
