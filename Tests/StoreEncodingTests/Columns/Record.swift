import StoreEncoding
import StoreFormat
import TestSupport

/// One value of a row, as tests write it.
enum Cell: Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
}

/// SQLite's record format, written by its page (sqlite.org/fileformat2.html section 2.1) and not by the code under test.
enum Record {
    static func bytes(of cells: [Cell], _ form: IntegerForm = .modern) -> [UInt8] {
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
            case .blob(let blob):
                types += varint(blob.count * 2 + 12)
                body += blob
            }
        }
        var size = types.count + 1
        while varint(size).count + types.count != size { size += 1 }
        return varint(size) + types + body
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

    static func varint(_ value: Int) -> [UInt8] {
        var bytes = [UInt8(value & 0x7f)]
        var rest = value >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7f) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }
}

extension RowGroup {
    init(_ rows: [[Cell]], rowids: [Int64]? = nil, _ form: IntegerForm = .modern) {
        self.init(rowids: rowids)
        for row in rows {
            records += Record.bytes(of: row, form)
            ends.append(records.count)
        }
    }
}

extension RepeatableRandom {
    mutating func cell() -> Cell {
        switch Int.random(in: 0..<9, using: &self) {
        case 0: .null
        case 1: .integer(Int64.random(in: -2...2, using: &self))
        case 2: .integer(Int64(bitPattern: next()) >> Int64.random(in: 0..<64, using: &self))
        case 3: .real(Double(bitPattern: next()))
        case 4: .real(Double(Int.random(in: -9999...9999, using: &self)) / 100)
        case 5: .text("")
        case 6: .text(String(Int.random(in: 0...3, using: &self)) + "-word")
        case 7: .blob((0..<Int.random(in: 0...90, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) })
        default: .text(String(repeating: "ab\0", count: Int.random(in: 0...30, using: &self)))
        }
    }
}
