/// The areas of a segment while it is written.
///
/// A decoder knows from what it has read where an encoding ends, so that the areas need no directory.
struct SegmentAreas {
    /// Tags, counts, parameters, and the numbers of small columns.
    var control: [UInt8] = []
    /// The numbers of larger columns.
    var numbers: [UInt8] = []
    /// Texts and blobs.
    var text: [UInt8] = []
    /// The room of the segment that streams take which stand in them by their content.
    var streams = StreamRoom.none
    /// What words will save of the text, about, in bytes: no trial sees them.
    var wordGain = 0
    /// Where values are in the text that stand elsewhere too, in order.
    var keys: [Range<Int>] = []
    /// The columns that have these.
    var keyColumns: [SharedKeys] = []

    var size: Int { control.count + numbers.count + text.count }

    mutating func tag(_ value: UInt8) { control.append(value) }
    mutating func unsigned(_ value: UInt64) { control.appendVarint(value) }
    mutating func count(_ value: Int) { control.appendVarint(UInt64(value)) }
    mutating func signed(_ value: Int64) { control.appendVarint(value.zigzag) }

    mutating func append(_ other: SegmentAreas) {
        control += other.control
        numbers += other.numbers
        keys += other.keys.map { $0.lowerBound + text.count..<$0.upperBound + text.count }
        keyColumns += other.keyColumns
        text += other.text
        streams += other.streams
        wordGain += other.wordGain
    }

    /// Notes strings of a column that are added to the text next, back to back, each with `end` bytes after it.
    mutating func note(_ strings: Strings, of column: SharedKeys?, end: Int = 0) {
        guard let column else { return }
        keys += strings.places(from: text.count, end: end)
        if !keys.isEmpty { keyColumns = [column] }
    }

    /// - Parameter count: Values in the column that the bytes belong to.
    mutating func appendNumbers(_ bytes: [UInt8], of count: Int) {
        if count < SegmentLimits.smallColumn { control += bytes } else { numbers += bytes }
    }
}

extension [UInt8] {
    /// Seven bits a byte, lowest first, the top bit set in all but the last.
    mutating func appendVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}

extension Int64 {
    /// 0, -1, 1, -2 as 0, 1, 2, 3.
    var zigzag: UInt64 { UInt64(bitPattern: (self << 1) ^ (self >> 63)) }

    init(zigzag value: UInt64) {
        self = Int64(bitPattern: (value >> 1) ^ (0 &- (value & 1)))
    }
}
