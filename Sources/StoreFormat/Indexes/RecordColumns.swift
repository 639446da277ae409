/// Where the values of a record are. One of these is used for many records.
package struct RecordColumns {
    /// Stands for a value that was left out because no entry of an index could hold it: a type that no record has.
    static let leftOut: UInt64 = 11

    package private(set) var types: [UInt64] = []
    /// Where each value begins; one more for the end of the last.
    package private(set) var starts: [Int] = []

    package init() {}

    package var count: Int { types.count }

    mutating func removeAll() {
        types.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        starts.append(0)
    }

    /// Takes the next value of a record that is not there as a whole.
    mutating func append(_ type: UInt64, length: Int) {
        types.append(type)
        starts.append((starts.last ?? 0) + length)
    }

    /// Looks at a record.
    ///
    /// - Returns: Whether it is sound.
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
