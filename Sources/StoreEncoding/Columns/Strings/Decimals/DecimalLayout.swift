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
    /// Digits of the fraction, at least; there are no zeros at the end of what is beyond them.
    let least: Int

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
        } while left > 0 || written <= fraction
        bytes[start...].reverse()
    }

    /// The number that a numeral begins with, if it is spelled so. More digits stay in the text, and so does a minus of 0.
    func number(of numeral: Numeral, in text: UnsafeBufferPointer<UInt8>) -> (number: Int64, range: Range<Int>)? {
        let (start, point) = (numeral.whole.lowerBound, numeral.whole.upperBound)
        guard numeral.isPlain, point - start + digits <= Self.mostInAll else { return nil }
        var fraction = min(numeral.fraction, digits)
        while fraction > least, text[point + fraction] == UInt8(ascii: "0") { fraction -= 1 }
        guard fraction >= least else { return nil }
        let end = fraction > 0 ? point + 1 + fraction : point
        var digits = text[start..<end].reduce(UInt64(0)) { $1 == Numeral.point ? $0 : $0 * 10 + UInt64($1 - 48) }
        for _ in fraction..<self.digits { digits *= 10 }
        guard let number = Int64(exactly: digits) else { return nil }
        return numeral.isNegative && number > 0 ? (-number, start - 1..<end) : (number, start..<end)
    }
}
