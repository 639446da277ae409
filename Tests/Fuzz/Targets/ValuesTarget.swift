// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding

import StoreEncoding
import StoreFormat

/// The bytes are the values of a column, each after its size in two bytes: lists, streams, pictures, and what holds them. Whatever is
/// taken apart comes back, byte for byte.
enum ValuesTarget {
    private static let most = 32

    static func run(_ input: [UInt8]) {
        var group = RowGroup()
        var rest = input[...]
        while !rest.isEmpty, group.ends.count < most {
            let size = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(2)
            group.append(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        do {
            var writer = try SegmentWriter(effort: .smallest)
            try writer.rows(group, integers: .modern)
            var reader = try SegmentReader(decoding: writer.finish())
            let rows = try reader.rows()
            precondition(rows == group && reader.isAtEnd, "other values")
        } catch {
            fatalError("\(error)")
        }
    }
}

extension RowGroup {
    /// A row of one blob, below 2^19 bytes.
    fileprivate mutating func append(_ blob: ArraySlice<UInt8>) {
        let type = blob.count * 2 + 12
        let digits = (0...2).map { UInt8(type >> (7 * $0) & 0x7F) }
        let count = type < 1 << 7 ? 1 : type < 1 << 14 ? 2 : 3
        records.append(UInt8(1 + count))
        for place in (0..<count).reversed() { records.append(digits[place] | (place > 0 ? 0x80 : 0)) }
        records += blob
        ends.append(records.count)
    }
}
