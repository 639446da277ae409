import RandomValues
import StoreEncoding
import StoreFormat
import TestSupport

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
