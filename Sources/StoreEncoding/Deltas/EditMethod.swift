/// How the new value of an edited row is made from the value in the base.
///
/// Source: `Protocol/DELTA.md` section 5.
enum EditMethod: Int, CaseIterable {
    /// The new value itself.
    case whole = 0
    /// The difference of two integers.
    case difference = 1
    /// A number that is added to the old one.
    case sum = 2
    /// A splice of a text or a blob; its place is counted from the end.
    case fromEnd = 3
    /// A splice whose place is counted from the start.
    case fromStart = 4

    var bit: UInt8 { 1 << UInt8(rawValue) }

    /// The sum of a number and another, as SQLite stores it in a column of the affinity REAL.
    static func sum(_ old: Double, _ addend: Double) -> DeltaValue {
        let bits = (old + addend).bitPattern
        if let whole = ColumnValues.whole(bits) { return .integer(whole) }
        return .real(bits)
    }

    /// The number with the fewest decimals that added to `old` gives `new`; `nil` if there is none.
    static func addend(from old: DeltaValue, to new: DeltaValue) -> Double? { change(from: old, to: new)?.addend }

    /// That number, and its digits as a whole number.
    static func change(from old: DeltaValue, to new: DeltaValue) -> (addend: Double, digits: Int64)? {
        guard let first = old.number, let second = new.number, first.isFinite, second.isFinite else { return nil }
        var scale = 1.0
        for _ in 0...6 {
            let scaled = ((second - first) * scale).rounded()
            guard abs(scaled) < 4_503_599_627_370_496 else { return nil }
            let addend = scaled / scale
            if sum(first, addend) == new { return (addend, Int64(scaled)) }
            scale *= 10
        }
        return nil
    }
}
