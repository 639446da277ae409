/// Reals as decimals of one scale, and those that are none.
struct DecimalSplit {
    private(set) var numbers: [Int64] = []
    /// Bit patterns.
    private(set) var others: [UInt64] = []
    /// How many decimals stand before each of the others, and after the one before it.
    private(set) var gaps: [Int64] = []

    init(of reals: [UInt64], scale: Int) {
        numbers.reserveCapacity(reals.count)
        var last = 0
        for real in reals {
            if let number = DecimalScales.number(of: real, DecimalScales.powers[scale]) {
                numbers.append(number)
            } else {
                others.append(real)
                gaps.append(Int64(numbers.count - last))
                last = numbers.count
            }
        }
    }
}
