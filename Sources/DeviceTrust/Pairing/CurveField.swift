/// A number modulo 2^255 - 19, the field of Curve25519 [RFC 7748 section 4.1].
///
/// No branch and no index depends on the numbers, which may come from a secret of a few digits. It is written by hand because
/// swift-crypto offers X25519, but not the field under it.
struct CurveField: Sendable {
    /// The lowest 64 bits first. Any four words: 2^256 is 38 here.
    private var words: SIMD4<UInt64>

    private init(_ words: SIMD4<UInt64>) { self.words = words }

    init(_ value: UInt64) { words = SIMD4(value, 0, 0, 0) }

    /// 32 bytes, the lowest first; the highest bit does not count [RFC 7748 section 5, decodeUCoordinate].
    ///
    /// - Returns: `nil` unless there are 32.
    init?(littleEndian bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        words = SIMD4(repeating: 0)
        for (index, byte) in bytes.enumerated() { words[index / 8] |= UInt64(byte) << UInt64(index % 8 * 8) }
        words[3] &= UInt64.max >> 1
    }

    /// 32 bytes, the lowest first, of the number below 2^255 - 19.
    var littleEndian: [UInt8] {
        // Twice, because the first time may leave a number just over 2^255.
        var reduced = words
        for _ in 0..<2 {
            let top = reduced[3] >> 63
            reduced[3] &= UInt64.max >> 1
            reduced = Self.sum(reduced, SIMD4(top &* 19, 0, 0, 0)).words
        }
        // At least 2^255 - 19 if adding 19 reaches 2^255: then that sum, without its highest bit, is the number.
        var plus19 = Self.sum(reduced, SIMD4(19, 0, 0, 0)).words
        let mask = 0 &- (plus19[3] >> 63)
        plus19[3] &= UInt64.max >> 1
        let number = Self.select(plus19, reduced, mask)
        return (0..<32).map { UInt8(truncatingIfNeeded: number[$0 / 8] >> UInt64($0 % 8 * 8)) }
    }

    static func + (left: CurveField, right: CurveField) -> CurveField {
        let (words, carry) = sum(left.words, right.words)
        return folded(words, carry)
    }

    static prefix func - (value: CurveField) -> CurveField {
        // Modulo p, ~x = 2^256 - 1 - x is 37 - x.
        CurveField(~value.words) + minus37
    }

    /// p - 37.
    private static let minus37 = CurveField(SIMD4(0 &- 19 &- 37, .max, .max, .max >> 1))

    static func * (left: CurveField, right: CurveField) -> CurveField {
        var product = [UInt64](repeating: 0, count: 8)
        for row in 0..<4 {
            var carry: UInt64 = 0
            for column in 0..<4 {
                let (high, low) = left.words[row].multipliedFullWidth(by: right.words[column])
                let (first, firstCarry) = product[row + column].addingReportingOverflow(low)
                let (second, secondCarry) = first.addingReportingOverflow(carry)
                product[row + column] = second
                carry = high &+ (firstCarry ? 1 : 0) &+ (secondCarry ? 1 : 0)
            }
            product[row + 4] = carry
        }
        // The upper half times 2^256, which is 38.
        var (words, carry) = (SIMD4<UInt64>(repeating: 0), UInt64(0))
        for index in 0..<4 {
            let (high, low) = product[index + 4].multipliedFullWidth(by: 38)
            let (first, firstCarry) = product[index].addingReportingOverflow(low)
            let (second, secondCarry) = first.addingReportingOverflow(carry)
            words[index] = second
            carry = high &+ (firstCarry ? 1 : 0) &+ (secondCarry ? 1 : 0)
        }
        return folded(words, carry)
    }

    /// - Parameter exponent: Not secret; its lowest bit first.
    func power(_ exponent: [Bool]) -> CurveField {
        var (result, square) = (CurveField(1), self)
        for bit in exponent {
            if bit { result = result * square }
            square = square * square
        }
        return result
    }

    /// x^(p - 2), which is 1/x; 0 for 0.
    var inverse: CurveField { power(Self.bits(0 &- 21)) }

    /// All bits set if this is the square of a number, none if not: x^((p - 1) / 2) is 1 for a square, and 0 for 0.
    var squareMask: UInt64 {
        // (p - 1) / 2 = 2^254 - 10.
        let symbol = power(Array(Self.bits(0 &- 20).dropFirst())).littleEndian
        // Only -1 has bytes other than 0 after the first one.
        var any: UInt8 = 0
        for byte in symbol.dropFirst() { any |= byte }
        return 0 &- ((UInt64(any) &- 1) >> 63)
    }

    /// `first` where the mask is set, `second` where it is not.
    static func choose(_ first: CurveField, _ second: CurveField, _ mask: UInt64) -> CurveField {
        CurveField(select(first.words, second.words, mask))
    }

    /// The 255 bits of 2^255 - 2^64 + `low`, the lowest first.
    private static func bits(_ low: UInt64) -> [Bool] {
        (0..<64).map { low >> UInt64($0) & 1 == 1 } + [Bool](repeating: true, count: 191)
    }

    private static func select(_ first: SIMD4<UInt64>, _ second: SIMD4<UInt64>, _ mask: UInt64) -> SIMD4<UInt64> {
        first & SIMD4(repeating: mask) | second & SIMD4(repeating: ~mask)
    }

    private static func sum(_ left: SIMD4<UInt64>, _ right: SIMD4<UInt64>) -> (words: SIMD4<UInt64>, carry: UInt64) {
        var (words, carry) = (SIMD4<UInt64>(repeating: 0), UInt64(0))
        for index in 0..<4 {
            let (first, firstCarry) = left[index].addingReportingOverflow(right[index])
            let (second, secondCarry) = first.addingReportingOverflow(carry)
            words[index] = second
            carry = (firstCarry ? 1 : 0) &+ (secondCarry ? 1 : 0)
        }
        return (words, carry)
    }

    /// Adds a carry, in units of 2^256, to the words.
    private static func folded(_ words: SIMD4<UInt64>, _ carry: UInt64) -> CurveField {
        // The carry is always below 40, so 38 times the carry is one word; the second carry is at most 1.
        let (once, left) = sum(words, SIMD4(carry &* 38, 0, 0, 0))
        return CurveField(sum(once, SIMD4(left &* 38, 0, 0, 0)).words)
    }
}
