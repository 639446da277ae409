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
            if result != 0 { return part.direction == .ascending ? result : -result }
        }
        return 0
    }

    /// Whether SQLite looks at all of each text of an entry, as `compare` does: for NOCASE it ends at a byte of zero
    /// [sqlite3StrNICmp].
    ///
    /// - Returns: `false` also for an entry that is not sound.
    func looksAtAll(of entry: Span<UInt8>) -> Bool {
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

    /// A number whose order is that of the entries, as far as it tells them apart: if it is less, the entry comes first.
    package func prefix(of entry: Span<UInt8>) -> UInt64 {
        var type = 0
        guard let part = parts.first, let header = Varint.read(entry, at: &type) else { return 0 }
        var position = Int(truncatingIfNeeded: header)
        guard let value = EntryValue(entry, &type, &position) else { return 0 }
        let prefix = value.prefix(in: entry, part.collation)
        return part.direction == .ascending ? prefix : ~prefix
    }
}

/// One value of an entry, for comparison.
private struct EntryValue {
    private let kind: Kind
    private let bytes: Range<Int>

    private enum Kind {
        case null
        case integer(Int64)
        case real(Double)
        case text
        case blob

        var rank: Int {
            switch self {
            case .null: 0
            case .integer, .real: 1
            case .text: 2
            case .blob: 3
            }
        }
    }

    /// Reads a value, and moves both positions behind it.
    @inline(__always)
    init?(_ entry: Span<UInt8>, _ typePosition: inout Int, _ position: inout Int) {
        guard let type = Varint.read(entry, at: &typePosition), let length = SerialType.length(type),
            position + length <= entry.count
        else { return nil }
        bytes = position..<(position + length)
        if type == SerialType.null {
            kind = .null
        } else if type == SerialType.real {
            let real = Double(
                bitPattern: UInt64(bitPattern: CanonicalRecord.integer(6, in: entry, at: position)))
            // SQLite reads what is not a number as NULL.
            kind = real.isNaN ? .null : .real(real)
        } else if SerialType.isInteger(type) {
            kind = .integer(CanonicalRecord.integer(type, in: entry, at: position))
        } else {
            kind = SerialType.isText(type) ? .text : .blob
        }
        position += length
    }

    @inline(__always)
    func compare(
        _ entry: Span<UInt8>, with other: EntryValue, _ otherEntry: Span<UInt8>, _ collation: IndexShape.Collation
    ) -> Int {
        switch (kind, other.kind) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.real(let left), .real(let right)): left < right ? -1 : left == right ? 0 : 1
        case (.integer(let left), .real(let right)): Self.compare(left, right)
        case (.real(let left), .integer(let right)): -Self.compare(right, left)
        case (.text, .text):
            collation.compare(entry.extracting(bytes), otherEntry.extracting(other.bytes))
        case (.blob, .blob):
            IndexShape.Collation.binary.compare(entry.extracting(bytes), otherEntry.extracting(other.bytes))
        case (.null, _), (.integer, _), (.real, _), (.text, _), (.blob, _):
            kind.rank < other.kind.rank ? -1 : kind.rank == other.kind.rank ? 0 : 1
        }
    }

    /// By exact values, where neither fits into the other's type.
    private static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real < -9_223_372_036_854_775_808 { return 1 }
        if real >= 9_223_372_036_854_775_808 { return -1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let rest = Double(whole)
        return rest < real ? -1 : rest == real ? 0 : 1
    }

    func prefix(in entry: Span<UInt8>, _ collation: IndexShape.Collation) -> UInt64 {
        let rank = UInt64(kind.rank) << 62
        switch kind {
        case .null: return rank
        case .integer(let integer): return rank | Self.ordered(Double(integer)) >> 2
        case .real(let real): return rank | Self.ordered(real) >> 2
        case .text: return rank | collation.prefix(of: entry.extracting(bytes)) >> 2
        case .blob: return rank | IndexShape.Collation.binary.prefix(of: entry.extracting(bytes)) >> 2
        }
    }

    /// Bits in the order of the numbers.
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

    /// Bytes that count.
    @inline(__always)
    private func length(of text: Span<UInt8>) -> Int {
        guard self == .rightTrim else { return text.count }
        var count = text.count
        while count > 0, text[unchecked: count - 1] == 0x20 { count -= 1 }
        return count
    }

    /// Of the ASCII letters alone [sqlite3_stricmp].
    @inline(__always)
    private static func folded(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }
}

/// What an index's entries are made of, where they follow from the rows of its table, and in which order they come.
///
/// Source: `Protocol/COLUMNS.md`, "Derived indexes"; sqlite.org/fileformat2.html sections 2.4 and 2.5.
package struct IndexShape: Hashable, Sendable {
    /// Most values of an entry: SQLite's own limit of columns.
    package static let mostParts = 32_767
    /// Longest entry, in bytes, that is derived. An index with a longer one is shipped.
    package static let longestEntry = 32 * 1024

    /// Most indexes of one table that are derived: for each of them a consumer reads the whole table once more. Others are
    /// shipped.
    package static let mostOfTable = 64

    /// One value of an entry.
    package struct Part: Hashable, Sendable {
        package let source: Source
        package let collation: Collation
        package let direction: Direction

        package init(_ source: Source, _ collation: Collation = .binary, _ direction: Direction = .ascending) {
            self.source = source
            self.collation = collation
            self.direction = direction
        }
    }

    /// Where a value comes from.
    package enum Source: Hashable, Sendable {
        case rowid
        /// The value at a place in the row's record, from 0.
        case value(Int)
    }

    /// SQLite's own collations [sqlite.org/datatype3.html#collation].
    package enum Collation: UInt8, Hashable, Sendable {
        case binary = 0
        case noCase = 1
        case rightTrim = 2
    }

    package enum Direction: Hashable, Sendable {
        case ascending, descending
    }

    package let parts: [Part]

    package init(_ parts: [Part]) { self.parts = parts }

    /// Whether the rowid is one of the values.
    package var hasRowid: Bool { parts.contains { $0.source == .rowid } }

    /// Whether all texts are compared byte by byte, which is all there is in stores in UTF-16.
    package var isBinary: Bool { parts.allSatisfy { $0.collation == .binary } }
}
