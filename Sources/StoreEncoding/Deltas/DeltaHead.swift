import ShipCompression
import StoreFormat

/// The limits of a delta's segments beside those of all segments.
///
/// Source: `Protocol/DELTA.md` section 3.
extension SegmentLimits {
    /// Events in one part.
    static let events = 262_144
    /// Edited rows in one part.
    static let edits = 262_144
    /// Edited values in all rows of one part.
    static let editedValues = 1_048_576
    /// Sets of columns in one part.
    static let sets = 65_536
    /// Columns in all sets of one part.
    static let setColumns = 1_048_576
    /// Bytes of the rows of the base that a segment can refer to.
    static let dictionarySize = 1_048_576
    /// Runs of rows in a segment's dictionary.
    static let dictionaryRuns = 16
    /// Bytes that one piece copies.
    static let copySize: UInt64 = 1 << 31
    /// Merged indexes of one table.
    static let merged = 64
}

/// How a delta begins.
///
/// Source: `Protocol/DELTA.md` section 2.
enum DeltaHead {
    /// The result is a file of bytes.
    static let isFileFlag: UInt64 = 1
    static let changesTreesFlag: UInt64 = 2
    static let changesSettingsFlag: UInt64 = 4
    static let allFlags: UInt64 = 7
}

extension StoreSettings {
    /// Writes a bit for each number, set where it differs from that of the base, and then the numbers that differ.
    func writeChanges(from base: StoreSettings, into areas: inout SegmentAreas) {
        let (old, new) = (base.numbers, numbers)
        let changed = new.indices.filter { new[$0] != old[$0] }
        areas.unsigned(changed.reduce(0) { $0 | 1 << UInt64($1) })
        for index in changed { areas.unsigned(UInt64(new[index])) }
    }

    /// Reads what `writeChanges` wrote.
    func changed(from source: inout SegmentReader) throws -> StoreSettings {
        var numbers = numbers
        let changed = try source.control.varint()
        guard changed < 1 << UInt64(numbers.count) else { throw CompressionError.damaged(.segment) }
        for index in numbers.indices where changed & 1 << UInt64(index) != 0 {
            guard let number = UInt32(exactly: try source.control.varint()) else {
                throw CompressionError.damaged(.rows)
            }
            numbers[index] = number
        }
        return try StoreSettings(numbers: numbers)
    }
}
