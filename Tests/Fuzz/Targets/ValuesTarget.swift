// modules: StoreFormat ShipProtocol ShipCompression StoreEncoding RandomValues

import RandomValues
import ShipCompression
import StoreEncoding
import StoreFormat

/// The bytes are the decisions by which a grammar makes columns of values: see `ValueKind`. Or, after a first byte of 255, they are the
/// values of a column, each after its size in two bytes: lists, streams, pictures, and what holds them. Whatever is taken apart comes
/// back at each effort, byte for byte.
enum ValuesTarget {
    private static let mostRows = 48
    private static let mostBytes = 1 << 18

    static func run(_ input: [UInt8]) {
        let rows = input.first == 255 ? values(in: input.dropFirst()) : madeRows(Choices(from: input))
        var group = RowGroup()
        for row in rows {
            group.records += Record.bytes(of: row)
            group.ends.append(group.records.count)
        }
        do {
            for effort in [SegmentEffort(.fastest), .standard, .smallest] {
                var writer = try SegmentWriter(effort: effort)
                try writer.rows(group, integers: .modern)
                var reader = try SegmentReader(decoding: writer.finish())
                let read = try reader.rows()
                precondition(read == group && reader.isAtEnd, "other values")
            }
        } catch {
            fatalError("\(error)")
        }
    }

    private static func values(in input: ArraySlice<UInt8>) -> [[Cell]] {
        var (rows, rest) = ([[Cell]](), input)
        while !rest.isEmpty, rows.count < mostRows {
            let size = rest.prefix(2).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(2)
            rows.append([.blob(Array(rest.prefix(size)))])
            rest = rest.dropFirst(size)
        }
        return rows
    }

    private static func madeRows(_ choices: Choices) -> [[Cell]] {
        let columns = (0...choices.below(4)).map { _ in choices.pick(ValueKind.all).begin(choices) }
        var (rows, size) = ([[Cell]](), 0)
        for row in 0...choices.below(mostRows) where size < mostBytes {
            let cells = columns.reduce(into: []) { cells, make in
                cells.append(make(choices, .init(row: row, earlier: cells)))
            }
            size += cells.reduce(0) { $0 + $1.size }
            rows.append(cells)
        }
        return rows
    }
}
