/// With how many decimal places reals can be written so that the same ones come back.
struct DecimalScales {
    /// The fewest places that suffice for all; `nil` if none do.
    private(set) var all: Int?
    /// The fewest that suffice for all but an eighth, where that are fewer than for all.
    private(set) var most: Int?

    /// Powers of ten up to 10^22 are exact in binary floating point.
    static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]
    /// 2^53: up to here each integer is a real.
    private static let decimalLimit = 9_007_199_254_740_992.0
    /// Of so many reals most are decimals, or the others are not looked at.
    private static let looked = 64

    /// - Parameter reals: Bit patterns.
    init(of reals: [UInt64]) {
        let first = reals.sampled(Self.looked)
        guard first.count(where: { Self.scale(of: $0, from: 0) != nil }) * 2 >= first.count else { return }
        var (counts, last) = ([Int](repeating: 0, count: Self.powers.count), 0)
        for real in reals {
            // Neighbours mostly have as many.
            guard let scale = Self.scale(of: real, from: last) else { continue }
            counts[scale] += 1
            last = scale
        }
        var (written, most) = (0, Int?.none)
        for scale in counts.indices where written < reals.count {
            written += counts[scale]
            if most == nil, written >= reals.count - reals.count / 8 { most = scale }
            if written == reals.count { all = scale }
        }
        if most != all { self.most = most }
    }

    /// - Parameter guess: Tried first.
    /// - Returns: The fewest places; `nil` if none suffice.
    private static func scale(of real: UInt64, from guess: Int) -> Int? {
        guard number(of: real, powers[guess]) != nil else {
            return powers.indices.first { number(of: real, powers[$0]) != nil }
        }
        var scale = guess
        while scale > 0, number(of: real, powers[scale - 1]) != nil { scale -= 1 }
        return scale
    }

    /// - Returns: The whole number of which a real is the quotient by this power; `nil` if it is none.
    static func number(of real: UInt64, _ power: Double) -> Int64? {
        let number = (Double(bitPattern: real) * power).rounded()
        guard abs(number) < decimalLimit, Self.real(of: Int64(number), power) == real else { return nil }
        return Int64(number)
    }

    /// - Returns: The bit pattern of `number / power`, rounded as IEEE 754 does.
    static func real(of number: Int64, _ power: Double) -> UInt64 { (Double(number) / power).bitPattern }
}
