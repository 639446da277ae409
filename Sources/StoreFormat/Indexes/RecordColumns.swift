/// The places of the values in a record. One value serves many records.
package struct RecordColumns {
    /// The type of a value that was left out because no entry could hold it: no record has this type.
    static let leftOut: UInt64 = 11

    package private(set) var types: [UInt64] = []
    /// Where each value begins, and where the last one ends.
    package private(set) var starts: [Int] = []

    package init() {}

    package var count: Int { types.count }

    /// Where a value is.
    package func range(_ place: Int) -> Range<Int> { starts[place]..<starts[place + 1] }

    mutating func removeAll() {
        types.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        starts.append(0)
    }

    /// Adds the next value of a record that is not in memory as a whole.
    mutating func append(_ type: UInt64, length: Int) {
        types.append(type)
        starts.append((starts.last ?? 0) + length)
    }

    /// Finds the values of a record.
    ///
    /// - Returns: Whether the record is sound.
    package mutating func read(_ record: Span<UInt8>) -> Bool {
        types.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        var position = 0
        guard let headerSize = Varint.read(record, at: &position), headerSize <= UInt64(record.count) else {
            return false
        }
        let end = Int(headerSize)
        var value = end
        while position < end {
            guard let type = Varint.read(record, at: &position), let length = SerialType.length(type) else {
                return false
            }
            types.append(type)
            starts.append(value)
            value += length
        }
        starts.append(value)
        return position == end && value == record.count
    }
}
