import ShipCompression

/// How the decimal numbers of one field are spelled.
///
/// Source: `Protocol/COLUMNS.md` 2, "Decimals".
struct DecimalLayout {
    static let mostDigits = 15
    /// Of a number in all: 10^19 still fits 64 bits, though not each with a sign.
    private static let mostInAll = 19

    /// Digits of the fraction, at most; a number is an integer divided by ten to this power.
    let digits: Int
    /// Digits of the fraction, at least; there are no zeros at the end of what is beyond them. If they are more than `digits`, the fraction has
    /// all, and these are the least digits of the number in all, with zeros in front.
    let least: Int

    /// Digits before the point, with zeros in front; 0 for no zeros in front.
    private var width: Int { max(0, least - digits) }

    func append(_ number: Int64, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var (left, fraction) = (number.magnitude, digits)
        while fraction > least, left % 10 == 0 { (left, fraction) = (left / 10, fraction - 1) }
        let start = bytes.count
        var written = 0
        repeat {
            if written == fraction, fraction > 0 { bytes.append(Numeral.point) }
            bytes.append(UInt8(ascii: "0") + UInt8(left % 10))
            (left, written) = (left / 10, written + 1)
        } while left > 0 || written <= fraction || written < least
        bytes[start...].reverse()
    }

    /// The number that a numeral begins with, if it is spelled so. More digits stay in the text, and so does a minus of 0.
    func number(of numeral: Numeral, in text: UnsafeBufferPointer<UInt8>) -> (number: Int64, range: Range<Int>)? {
        let (start, point) = (numeral.whole.lowerBound, numeral.whole.upperBound)
        guard point - start + digits <= Self.mostInAll, numeral.hasWhole(of: width) else { return nil }
        var fraction = min(numeral.fraction, digits)
        while fraction > least, text[point + fraction] == UInt8(ascii: "0") { fraction -= 1 }
        guard fraction >= min(least, digits) else { return nil }
        let end = fraction > 0 ? point + 1 + fraction : point
        var digits = text[start..<end].reduce(UInt64(0)) { $1 == Numeral.point ? $0 : $0 * 10 + UInt64($1 - 48) }
        for _ in fraction..<self.digits { digits *= 10 }
        guard let number = Int64(exactly: digits) else { return nil }
        return numeral.isNegative && number > 0 ? (-number, start - 1..<end) : (number, start..<end)
    }
}

extension DecimalLayout {
    /// How many digits the numbers of a field have before the point.
    struct Widths {
        private var (zeros, others) = ([Int: Int](), [Int: Int]())

        mutating func count(_ numeral: Numeral) {
            if numeral.hasZero {
                zeros[numeral.whole.count, default: 0] += 1
            } else {
                others[numeral.whole.count, default: 0] += 1
            }
        }

        /// That of most numbers with zeros in front; 0 where these are fewer than those that have fewer digits.
        var most: Int {
            guard let width = zeros.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return 0 }
            return others.reduce(0) { $0 + ($1.key < width.key ? $1.value : 0) } < width.value ? width.key : 0
        }
    }

    /// The layout that suits most numerals.
    init(of numerals: [Numeral], in text: UnsafeBufferPointer<UInt8>) {
        // Enough for nearly all.
        let fractions = numerals.map { $0.cleanFraction(in: text) }.sorted()
        let digits = min(fractions.isEmpty ? 0 : fractions[fractions.count * 15 / 16], Self.mostDigits)
        // Whoever writes no zeros at the end of a fraction may write none at all.
        let full = numerals.filter { $0.fraction == digits }
        let hasZeros = full.count { text[$0.end - 1] == UInt8(ascii: "0") } * 40 >= max(1, full.count)
        let hasWhole = fractions.prefix { $0 == 0 }.count * 20 >= fractions.count
        self.init(digits: digits, least: hasZeros ? digits : hasWhole ? 0 : min(1, digits))
        self = adapted(to: numerals.reduce(into: Widths()) { $0.count($1) })
    }

    /// The same with the zeros in front that numbers have.
    func adapted(to widths: Widths) -> DecimalLayout {
        let width = digits + widths.most <= Self.mostDigits ? widths.most : 0
        return DecimalLayout(digits: digits, least: width > 0 ? digits + width : min(least, digits))
    }

    /// What numbers take, by estimate: their own bits or those of their steps, and four for each digit that stays in the text.
    func bits(of numerals: [Numeral], in text: UnsafeBufferPointer<UInt8>) -> Int {
        let taken = numerals.map { number(of: $0, in: text) }
        let left = zip(numerals, taken).reduce(0) { $0 + $1.0.end - ($1.1?.range.upperBound ?? $1.0.whole.lowerBound) }
        let numbers = taken.compactMap { $0?.number }
        let mean = IntegerFacts(numbers).map { min($0.meanBits, $0.meanDeltaBits) + 1 } ?? 0
        return mean * numbers.count + 4 * left
    }
}
