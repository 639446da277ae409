/// How many bits symbols take by how often they are used.
enum Entropy {
    /// Parts of a bit.
    static let unit = 256

    /// `count` times its logarithm to the base 2, in parts of a bit; 0 for 0.
    ///
    /// The symbols of a message take the weight of all together, less the weights of each.
    @inline(__always)
    static func weight(_ count: Int) -> Int {
        if count < tableSize { return Int(table[count]) }
        // Between two in the table it is as good as straight.
        let shift = Int.bitWidth &- count.leadingZeroBitCount &- tableSize.trailingZeroBitCount
        let (high, low) = (count &>> shift, count & (1 &<< shift &- 1))
        let (weight, next) = (Int(table[high]), Int(table[high &+ 1]))
        return weight &<< shift &+ (next &- weight) &* low &+ count &* shift &* unit
    }

    private static let tableSize = 4096
    private static let table = (0...tableSize).map { count in
        count < 2 ? 0 : Int32((Double(count) * logarithm(Double(count)) * Double(unit)).rounded())
    }

    /// To the base 2, by the series of the area tangent.
    ///
    /// - Parameter number: Finite, above 0.
    private static func logarithm(_ number: Double) -> Double {
        let ratio = (number.significand - 1) / (number.significand + 1)
        let sum = (0..<16).reduce(0) { $0 + power(ratio, 2 * $1 + 1) / Double(2 * $1 + 1) }
        return Double(number.exponent) + sum * 2 * 1.442_695_040_888_963_4
    }

    private static func power(_ base: Double, _ exponent: Int) -> Double {
        (0..<exponent).reduce(1) { product, _ in product * base }
    }
}
