package import StoreFormat

/// SQLite's record format, written by its page (sqlite.org/fileformat2.html section 2.1) and not by the code under test.
package enum Record {
    package static func bytes(of cells: [Cell], _ form: IntegerForm = .modern) -> [UInt8] {
        var types: [UInt8] = []
        var body: [UInt8] = []
        for cell in cells {
            switch cell {
            case .null: types.append(0)
            case .integer(let value): append(value, form, &types, &body)
            case .real(let value):
                types.append(7)
                body += bigEndian(value.bitPattern, 8)
            case .text(let text):
                types += varint(text.utf8.count * 2 + 13)
                body += text.utf8
            case .badText(let text):
                types += varint(text.count * 2 + 13)
                body += text
            case .blob(let blob):
                types += varint(blob.count * 2 + 12)
                body += blob
            }
        }
        var size = types.count + 1
        while varint(size).count + types.count != size { size += 1 }
        return varint(size) + types + body
    }

    /// Values as SQLite would not write them: integers wider than they need be, numbers of a header in more bytes, and nothing for nulls
    /// at the end.
    package static func loose(_ cells: [Cell], _ choices: Choices) -> [UInt8] {
        var types: [UInt8] = []
        var body: [UInt8] = []
        func add(_ type: Int, _ bytes: [UInt8] = []) {
            types += varint(type, wider: choices.chance(10) ? choices.below(4) : 0)
            body += bytes
        }
        let nulls = cells.reversed().prefix { $0 == .null }.count
        for cell in cells.dropLast(choices.chance(50) ? nulls : 0) {
            switch cell {
            case .null: add(0)
            case .integer(let value):
                let all: [(type: Int, size: Int)] = [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 8)]
                let widths = all.filter { value >> Int64($0.size * 8 - 1) == value >> 63 }
                let (type, size) = choices.pick(widths)
                add(type, bigEndian(UInt64(bitPattern: value), size))
            case .real(let value): add(7, bigEndian(value.bitPattern, 8))
            case .text(let text): add(text.utf8.count * 2 + 13, Array(text.utf8))
            case .badText(let text): add(text.count * 2 + 13, text)
            case .blob(let blob): add(blob.count * 2 + 12, blob)
            }
        }
        var size = 1
        while varint(types.count + size).count > size { size += 1 }
        size += choices.chance(30) ? choices.below(4) : 0
        let head = varint(types.count + size)
        return varint(types.count + size, wider: size - head.count) + types + body
    }

    private static func append(_ value: Int64, _ form: IntegerForm, _ types: inout [UInt8], _ body: inout [UInt8]) {
        if form == .modern, value == 0 || value == 1 {
            types.append(UInt8(8 + value))
            return
        }
        for (type, size) in [(1, 1), (2, 2), (3, 3), (4, 4), (5, 6), (6, 8)] as [(UInt8, Int)] {
            let bits = Int64(size * 8 - 1)
            if size == 8 || (value >= -(1 << bits) && value < 1 << bits) {
                types.append(type)
                body += bigEndian(UInt64(bitPattern: value), size)
                return
            }
        }
    }

    private static func bigEndian(_ value: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    }

    /// - Parameter wider: By how many bytes it is longer than it need be.
    package static func varint(_ value: Int, wider: Int = 0) -> [UInt8] {
        var bytes = [UInt8(value & 0x7f)]
        var rest = value >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
            rest >>= 7
        }
        return [UInt8](repeating: 0x80, count: wider) + bytes
    }
}
