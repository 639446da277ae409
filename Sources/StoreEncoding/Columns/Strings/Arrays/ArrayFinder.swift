/// Finds arrays of numbers in strings: those of geometries, and those that fill strings behind a head of one size.
struct ArrayFinder {
    let layout: ArrayLayout
    /// Bytes before the one array of a string; `nil` for geometries.
    private let head: Int?

    /// How many strings are looked at, at most.
    private static let looked = 16
    /// Strings of fewer bytes, in the mean, are not looked at.
    private static let shortest = 24

    /// - Returns: `nil` if most of the strings that were looked at hold none.
    init?(_ strings: Strings) {
        let step = max(1, strings.count / Self.looked)
        let sample = stride(from: 0, to: strings.count, by: step).map { strings[$0] }
        guard sample.reduce(0, { $0 + $1.count }) >= sample.count * Self.shortest else { return nil }
        let geometries = sample.compactMap { Geometry($0) }
        if geometries.count * 2 > sample.count, let first = geometries.first {
            self.init(layout: first.layout, head: nil)
        } else {
            guard let (layout, head) = Self.layout(of: sample) else { return nil }
            self.init(layout: layout, head: head)
        }
    }

    private init(layout: ArrayLayout, head: Int?) { (self.layout, self.head) = (layout, head) }

    /// The arrays of a string, in order; none are empty.
    func arrays(in string: ArraySlice<UInt8>) -> [Range<Int>] {
        guard let head else {
            guard let geometry = Geometry(string), geometry.layout == layout else { return [] }
            return geometry.arrays
        }
        let count = (string.count - head) / layout.elementSize
        guard string.count >= head, count > 0 else { return [] }
        let start = string.startIndex + head
        return [start..<start + count * layout.elementSize]
    }

    // MARK: Arrays that fill strings

    /// The longest head, in bytes.
    private static let longestHead = 64
    /// The most bytes of a string that are looked at.
    private static let lookedBytes = 2048

    /// Bytes that differ by no more are near one another.
    private static let near: UInt8 = 2

    /// Where numbers are alike, the byte that weighs most in each is near that of an earlier one, and those that weigh least are noise. So
    /// how often bytes are near changes most where one number ends and the next begins.
    private static func layout(of sample: [ArraySlice<UInt8>]) -> (ArrayLayout, head: Int)? {
        let size = sample.first?.count ?? 0
        guard sample.allSatisfy({ ($0.count - size) % 2 == 0 }), sample.contains(where: { $0.contains { $0 >= 0x80 } })
        else { return nil }
        // By the place in eight bytes, in hundredths.
        var rates = [Int](repeating: 0, count: 8)
        for lag in [2, 4, 8, 16, 24] {
            var (found, all) = (rates.map { _ in 0 }, rates.map { _ in 0 })
            for string in sample {
                let bytes = Array(string.prefix(lookedBytes))
                for place in bytes.indices.dropFirst(lag) {
                    all[place % 8] += 1
                    if bytes[place] &- bytes[place - lag] &+ near <= 2 * near { found[place % 8] += 1 }
                }
            }
            let other = zip(found, all).map { $1 == 0 ? 0 : $0 * 100 / $1 }
            if other.max() ?? 0 > rates.max() ?? 0 { rates = other }
        }
        guard let most = rates.max(), let least = rates.min(), most >= 16, least * 3 < most * 2 else { return nil }
        // Narrower numbers are alike twice or four times in eight bytes.
        func isLike(_ first: Int, _ second: Int) -> Bool { abs(first - second) * 4 <= most }
        let width =
            [2, 4].first { narrower in (0..<8).allSatisfy { isLike(rates[$0], rates[($0 + narrower) % 8]) } } ?? 8
        guard sample.allSatisfy({ ($0.count - size) % width == 0 }) else { return nil }
        // Among nearly equal changes that at the beginning of a string.
        let changes = (0..<width).map { start in rates[(start + 7) % 8] - rates[start] }
        let sharpest = changes.reduce(0) { max($0, abs($1)) }
        guard let start = changes.indices.first(where: { abs(changes[$0]) * 8 >= sharpest * 7 }) else { return nil }
        return layout(width, changes[start] < 0, start: start, in: sample)
    }

    /// - Parameter start: Where a number begins, modulo `width`.
    private static func layout(
        _ width: Int, _ isBigEndian: Bool, start: Int, in sample: [ArraySlice<UInt8>]
    ) -> (ArrayLayout, head: Int)? {
        let single = ArrayLayout(width: width, fields: 1, isBigEndian: isBigEndian)
        let numbers = sample.map { string in
            let array = string.dropFirst(start).prefix(lookedBytes)
            return single.integers(0, of: Array(array.prefix(array.count / width * width)))
        }
        // What stands before the first number that is like most of them belongs to the head.
        func exponent(_ number: Int64) -> Int64 { number >> Int64(8 * width - 12) & 0x7ff }
        let typical = numbers.flatMap { $0.dropFirst($0.count / 2) }.map(exponent).sorted()
        guard !typical.isEmpty else { return nil }
        let (low, high) = (typical[typical.count / 20] - 8, typical[typical.count - 1 - typical.count / 20] + 8)
        func isTypical(_ number: Int64) -> Bool { number == 0 || (low...high).contains(exponent(number)) }
        let first = width < 8 ? [] : numbers.map { $0.prefix(longestHead / width) }
        let heads = first.map { $0.prefix { !isTypical($0) }.count }.sorted()
        let skipped = heads.isEmpty ? 0 : heads[heads.count / 2]
        let head = start + skipped * width
        // The fields of which each is nearest to the one of the element before.
        var best: (fields: Int, bits: Int)?
        for fields in 1...4 {
            let isWhole = sample.allSatisfy { max(0, $0.count - head) / width % fields == 0 }
            guard isWhole else { continue }
            var (bits, count) = (0, 0)
            for values in numbers {
                let values = values.dropFirst(skipped)
                for place in values.indices.dropFirst(fields) {
                    bits += 64 - (values[place] &- values[place - fields]).zigzag.leadingZeroBitCount
                    count += 1
                }
            }
            guard count > 0 else { continue }
            // A sixteenth less, or the simplest.
            let mean = bits * 16 / count
            if mean < best.map({ $0.bits - $0.bits / 16 }) ?? .max { best = (fields, mean) }
        }
        guard let best else { return nil }
        return (ArrayLayout(width: width, fields: best.fields, isBigEndian: isBigEndian), head)
    }
}
