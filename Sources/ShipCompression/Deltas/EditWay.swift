/// How a value of an edited row is said, beside the one that it had in the base.
///
/// Source: `Protocol/DELTA.md` section 5.
enum EditWay: Int, CaseIterable {
    /// As it is.
    case whole = 0
    /// An integer less the one before.
    case difference = 1
    /// A number, as the sum of the one before and another.
    case sum = 2
    /// A text or a blob of which all stays but some bytes, whose place is counted from its end.
    case fromEnd = 3
    /// The same, counted from its start.
    case fromStart = 4

    var bit: UInt8 { 1 << UInt8(rawValue) }

    /// The sum of a number and another, as SQLite stores it in a column of the affinity REAL.
    static func sum(_ old: Double, _ addend: Double) -> DeltaValue {
        let bits = (old + addend).bitPattern
        if let whole = ColumnValues.whole(bits) { return .integer(whole) }
        return .real(bits)
    }

    /// The number that makes `new` of `old` when it is added, of the fewest decimals; `nil` if none does.
    static func addend(from old: DeltaValue, to new: DeltaValue) -> Double? {
        guard let first = old.number, let second = new.number, first.isFinite, second.isFinite else { return nil }
        var scale = 1.0
        for _ in 0...6 {
            let scaled = ((second - first) * scale).rounded()
            guard abs(scaled) < 4_503_599_627_370_496 else { return nil }
            let addend = scaled / scale
            if sum(first, addend) == new { return addend }
            scale *= 10
        }
        return nil
    }
}

/// What of a string is not in the one before.
struct Splice: Hashable {
    /// Bytes that stay before and after it.
    let before: Int
    let after: Int
    /// Bytes of the old string that go.
    let removed: Int
    let inserted: ArraySlice<UInt8>

    init(from old: ArraySlice<UInt8>, to new: ArraySlice<UInt8>) {
        let most = min(old.count, new.count)
        var (before, after) = (0, 0)
        old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in
                while before < most, old[before] == new[before] { before += 1 }
                while after < most - before, old[old.count - 1 - after] == new[new.count - 1 - after] { after += 1 }
            }
        }
        self.before = before
        self.after = after
        removed = old.count - before - after
        inserted = new.dropFirst(before).dropLast(after)
    }

    /// - Returns: `nil` if the old string is too short.
    static func apply(
        to old: ArraySlice<UInt8>, before: Int, removed: Int, _ inserted: ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        guard before >= 0, removed >= 0, before <= old.count, removed <= old.count - before else { return nil }
        return old.prefix(before) + inserted + old.dropFirst(before + removed)
    }
}
