import Foundation
import GRDB
import TestSupport
import Testing

@testable import StoreEncoding

@Suite struct `Keys by which rows name each other` {
    /// Keys of a form, all of them different.
    enum Form: CaseIterable {
        case uuid, hexadecimal, blob, alphanumeric

        func key(_ random: inout RepeatableRandom) -> any DatabaseValueConvertible {
            let bytes = Data((0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
            switch self {
            case .uuid:
                return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)).uuidString.lowercased() }
            case .hexadecimal: return bytes.prefix(12).map { String(format: "%02x", $0) }.joined()
            case .blob: return bytes
            case .alphanumeric: return bytes.map { String(UnicodeScalar(UInt8(ascii: "A") + $0 % 26)) }.joined()
            }
        }

        /// Bytes that a key takes at least.
        var leastSize: Int {
            switch self {
            case .uuid, .blob: 16
            case .hexadecimal: 12
            case .alphanumeric: 9
            }
        }
    }

    /// - Parameter count: Rows of the table that has the keys. Another one names each of them once, and a third one some.
    private static func copy(_ form: Form, count: Int, seed: UInt64) throws
        -> `Segments that refer to earlier ones`.Copy
    {
        try .init("") { database in
            var random = RepeatableRandom(seed: seed)
            let keys = (0..<count).map { _ in form.key(&random) }
            try database.execute(
                sql: """
                    CREATE TABLE item(id PRIMARY KEY, number); CREATE TABLE state(id PRIMARY KEY, seen);
                    CREATE TABLE part(number INTEGER PRIMARY KEY, item, size); CREATE INDEX parts ON part(item)
                    """)
            for key in keys { try database.execute(sql: "INSERT INTO item VALUES (?, 1)", arguments: [key]) }
            for key in keys { try database.execute(sql: "INSERT INTO state VALUES (?, 0)", arguments: [key]) }
            for key in keys.shuffled(using: &random).prefix(count / 2) {
                try database.execute(sql: "INSERT INTO part(item, size) VALUES (?, 7)", arguments: [key])
            }
        }
    }

    @Test(arguments: Form.allCases, [SegmentEffort.standard, .smallest])
    func `take a few bytes where they come again, in one segment and across segments`(
        form: Form, effort: SegmentEffort
    ) throws {
        let count = 3000
        let copy = try Self.copy(form, count: count, seed: 3)
        for capacity in [1 << 20, 1 << 15] {
            let segments = try copy.segments(capacity: capacity, effort)
            #expect(segments.count == 1 || capacity < 1 << 20)
            let size = segments.reduce(0) { $0 + $1.count }
            // Once each as they are, a byte or two for each row that names them in order, and four for the others.
            #expect(size < count * (form.leastSize + 6) + count * 3 / 2 + count / 2 * 6)
            #expect(try copy.built(from: segments) == copy.bytes)
        }
    }

    /// As in threads of messages: deflate would see the rows that are named, if it saw rows. At lower efforts an estimate may take the rows for
    /// smaller.
    @Test func `take a few bytes too where they name rows shortly before, beside long texts`() throws {
        let count = 9000
        func size(naming: Bool) throws -> Int {
            let copy = try `Segments that refer to earlier ones`.Copy("") { database in
                var random = RepeatableRandom(seed: 4)
                let keys = (0..<count).map { _ in Form.blob.key(&random) }
                try database.execute(sql: "CREATE TABLE message(id, answers, body)")
                for (row, key) in keys.enumerated() {
                    let earlier = keys[max(0, row - Int.random(in: 1...20, using: &random))]
                    let body = (0..<8).map { _ in
                        ["so", "when", "did", "it", "rain", "there"].randomElement(using: &random) ?? ""
                    }
                    try database.execute(
                        sql: "INSERT INTO message VALUES (?, ?, ?)",
                        arguments: [key, naming ? earlier : nil, body.joined(separator: " ")])
                }
            }
            let segments = try copy.segments(capacity: 1 << 20, .smallest)
            #expect(try copy.built(from: segments) == copy.bytes)
            return segments.reduce(0) { $0 + $1.count }
        }
        #expect(try size(naming: true) < size(naming: false) + count * 6)
    }

    /// Such a column has encodings that save more, though each value comes again in an index.
    @Test(arguments: [20, 4000]) func `are the greater part of a column, if it has any`(longSize: Int) throws {
        let copy = try `Segments that refer to earlier ones`.Copy("") { database in
            var random = RepeatableRandom(seed: 5)
            let values = (0..<4000).map { row in Data(random.bytes(row % 100 == 0 ? longSize : 16)) }
            for table in ["a", "b"] {
                try database.execute(sql: "CREATE TABLE \(table)(value)")
                for value in values.shuffled(using: &random) {
                    try database.execute(sql: "INSERT INTO \(table) VALUES (?)", arguments: [value])
                }
            }
        }
        var shared: [SharedKeys] = []
        try StoreWalk.run(over: try MemoryPages(copy.bytes), shapes: copy.shapes, refers: { true }) {
            shared += $0.sharedKeys.compactMap { $0[0] }
        }
        #expect(shared.isEmpty == (longSize > 20), "\(shared)")
    }
}
