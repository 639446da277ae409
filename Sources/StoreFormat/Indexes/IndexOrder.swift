/// The order of an index's entries, as SQLite's own comparison makes it.
///
/// NULL comes before numbers, numbers before texts, texts before blobs; integers and reals are compared by their exact
/// values [sqlite.org/datatype3.html#sort_order; vdbeaux.c, sqlite3VdbeRecordCompareWithSkip].
package struct IndexOrder: Sendable {
    private let parts: [IndexShape.Part]

    package init(_ shape: IndexShape) { parts = shape.parts }

    /// Compares two sound entries.
    ///
    /// - Returns: Below 0, 0 or above 0, as the first comes before the second, is equal to it, or comes after it.
    package func compare(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
        var (leftType, rightType) = (0, 0)
        guard let leftHeader = Varint.read(left, at: &leftType), let rightHeader = Varint.read(right, at: &rightType)
        else { return 0 }
        var (leftValue, rightValue) = (Int(truncatingIfNeeded: leftHeader), Int(truncatingIfNeeded: rightHeader))
        for part in parts {
            guard let first = EntryValue(left, &leftType, &leftValue),
                let second = EntryValue(right, &rightType, &rightValue)
            else { return 0 }
            let result = first.compare(left, with: second, right, part.collation)
            if result != 0 { return part.isDescending ? -result : result }
        }
        return 0
    }

    /// Whether SQLite compares each text of an entry to its end, as `compare` does: with NOCASE it stops at a zero byte [sqlite3StrNICmp].
    ///
    /// - Returns: `false` also for an unsound entry.
    package func comparesWholeTexts(of entry: Span<UInt8>) -> Bool {
        var position = 0
        guard let header = Varint.read(entry, at: &position), header <= UInt64(entry.count) else { return false }
        var value = Int(header)
        for part in parts {
            guard let type = Varint.read(entry, at: &position), let length = SerialType.length(type),
                value + length <= entry.count
            else { return false }
            if part.collation == .noCase, SerialType.isText(type) {
                for index in value..<(value + length) where entry[index] == 0 { return false }
            }
            value += length
        }
        return true
    }

    /// A number for comparing entries quickly: an entry with a smaller number comes first; equal numbers say nothing.
    package func prefix(of entry: Span<UInt8>) -> UInt64 {
        var type = 0
        guard let part = parts.first, let header = Varint.read(entry, at: &type) else { return 0 }
        var position = Int(truncatingIfNeeded: header)
        guard let value = EntryValue(entry, &type, &position) else { return 0 }
        let prefix = value.prefix(in: entry, part.collation)
        return part.isDescending ? ~prefix : prefix
    }
}

/// One value of an entry, for comparison.
private enum EntryValue {
    case null
    case integer(Int64)
    case real(Double)
    /// With the place of its bytes in the entry.
    case text(Range<Int>)
    case blob(Range<Int>)

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    /// Reads a value, and moves both positions behind it.
    @inline(__always)
    init?(_ entry: Span<UInt8>, _ typePosition: inout Int, _ position: inout Int) {
        guard let type = Varint.read(entry, at: &typePosition), let length = SerialType.length(type),
            position + length <= entry.count
        else { return nil }
        if type == SerialType.null {
            self = .null
        } else if type == SerialType.real {
            let real = Double(bitPattern: UInt64(bitPattern: CanonicalRecord.integer(6, in: entry, at: position)))
            // SQLite reads a NaN as NULL.
            self = real.isNaN ? .null : .real(real)
        } else if SerialType.isInteger(type) {
            self = .integer(CanonicalRecord.integer(type, in: entry, at: position))
        } else {
            let bytes = position..<(position + length)
            self = SerialType.isText(type) ? .text(bytes) : .blob(bytes)
        }
        position += length
    }

    @inline(__always)
    func compare(
        _ entry: Span<UInt8>, with other: EntryValue, _ otherEntry: Span<UInt8>, _ collation: IndexShape.Collation
    ) -> Int {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.real(let left), .real(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.integer(let left), .real(let right)): Self.compare(left, right)
        case (.real(let left), .integer(let right)): -Self.compare(right, left)
        case (.text(let left), .text(let right)):
            collation.compare(entry.extracting(left), otherEntry.extracting(right))
        case (.blob(let left), .blob(let right)):
            IndexShape.Collation.binary.compare(entry.extracting(left), otherEntry.extracting(right))
        case (.null, _), (.integer, _), (.real, _), (.text, _), (.blob, _):
            rank < other.rank ? -1 : rank == other.rank ? 0 : 1
        }
    }

    /// By exact values: not every integer is a double.
    private static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real < -9_223_372_036_854_775_808 { return 1 }
        if real >= 9_223_372_036_854_775_808 { return -1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let rest = Double(whole)
        return rest < real ? -1 : rest == real ? 0 : 1
    }

    func prefix(in entry: Span<UInt8>, _ collation: IndexShape.Collation) -> UInt64 {
        let rank = UInt64(rank) << 62
        switch self {
        case .null: return rank
        case .integer(let integer): return rank | Self.ordered(Double(integer)) >> 2
        case .real(let real): return rank | Self.ordered(real) >> 2
        case .text(let bytes): return rank | collation.prefix(of: entry.extracting(bytes)) >> 2
        case .blob(let bytes): return rank | IndexShape.Collation.binary.prefix(of: entry.extracting(bytes)) >> 2
        }
    }

    /// Bits in the same order as the numbers.
    private static func ordered(_ real: Double) -> UInt64 {
        // -0.0 and 0.0 are equal.
        let bits = (real == 0 ? 0.0 : real).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}

extension IndexShape.Collation {
    @inline(__always)
    fileprivate func compare(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
        let leftCount = length(of: left)
        let rightCount = length(of: right)
        let common = min(leftCount, rightCount)
        if self == .noCase {
            for index in 0..<common {
                let (first, second) = (Self.folded(left[unchecked: index]), Self.folded(right[unchecked: index]))
                if first != second { return first < second ? -1 : 1 }
            }
        } else {
            for index in 0..<common where left[unchecked: index] != right[unchecked: index] {
                return left[unchecked: index] < right[unchecked: index] ? -1 : 1
            }
        }
        return leftCount < rightCount ? -1 : leftCount == rightCount ? 0 : 1
    }

    fileprivate func prefix(of text: Span<UInt8>) -> UInt64 {
        let count = length(of: text)
        var prefix: UInt64 = 0
        for index in 0..<8 {
            let byte = index < count ? text[unchecked: index] : 0
            prefix = prefix << 8 | UInt64(self == .noCase ? Self.folded(byte) : byte)
        }
        return prefix
    }

    /// Bytes that count in the comparison.
    @inline(__always)
    private func length(of text: Span<UInt8>) -> Int {
        guard self == .rightTrim else { return text.count }
        var count = text.count
        while count > 0, text[unchecked: count - 1] == 0x20 { count -= 1 }
        return count
    }

    /// Lower case, of ASCII letters only [sqlite3_stricmp].
    @inline(__always)
    private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}
