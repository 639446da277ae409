import Foundation
import GRDB
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

@Suite struct `Segments that refer to earlier ones` {
    /// A canonical copy, much of which comes again.
    struct Copy {
        let bytes: [UInt8]
        let shapes: [String: IndexShape]

        init(_ settings: String, _ make: (Database) throws -> Void) throws {
            let folder = try ScratchFolder.inMemory()
            let path = folder.path.appending("copy")
            let queue = try DatabaseQueue.repeatable(path: path)
            try queue.writeWithoutTransaction { database in
                try database.execute(sql: settings)
                try database.inTransaction {
                    try make(database)
                    return .commit
                }
                try database.execute(sql: "VACUUM")
            }
            shapes = try queue.unsafeRead { try IndexShape.all(in: $0) }
            try queue.close()
            bytes = try MemoryPages.canonicalForm(of: PageReading.bytes(of: path))
        }

        /// Of the same few values, whole, cut and changed, in all kinds of trees and pages.
        init(seed: UInt64) throws {
            var random = RepeatableRandom(seed: seed)
            let pageSize = [512, 1024, 4096, 65_536].randomElement(using: &random) ?? 512
            let autoVacuum = Int.random(in: 0...1, using: &random)
            var values = (0..<10).map { _ in
                random.data(Int.random(in: 40...(random.isTrue(1, of: 3) ? 9000 : 900), using: &random))
            }
            if random.isTrue(1, of: 4) { values.append(random.data(280_000)) }
            try self.init("PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(autoVacuum)") { database in
                for table in 0..<Int.random(in: 2...4, using: &random) {
                    let isKeyed = random.isTrue(1, of: 3)
                    let key = isKeyed ? "id PRIMARY KEY" : "id INTEGER PRIMARY KEY"
                    try database.execute(
                        sql: "CREATE TABLE t\(table) (\(key), a, b) \(isKeyed ? "WITHOUT ROWID" : "")")
                    for row in 0..<Int.random(in: 3...60, using: &random) {
                        var value = values.randomElement(using: &random) ?? Data()
                        switch Int.random(in: 0..<8, using: &random) {
                        case 0: value = random.data(Int.random(in: 0...500, using: &random))
                        case 1: value = value.prefix(Int.random(in: 0...value.count, using: &random))
                        case 2: value[Int.random(in: 0..<value.count, using: &random)] ^= 1
                        default: break
                        }
                        try database.execute(
                            sql: "INSERT INTO t\(table) VALUES (?, ?, ?)", arguments: [row, value, row % 7])
                    }
                    if random.isTrue(1, of: 2) { try database.execute(sql: "CREATE INDEX i\(table) ON t\(table)(b)") }
                    if random.isTrue(1, of: 3) {
                        try database.execute(sql: "CREATE INDEX e\(table) ON t\(table)(substr(a, 1, 90)) WHERE b > 1")
                    }
                    if random.isTrue(1, of: 3) { try database.execute(sql: "CREATE INDEX a\(table) ON t\(table)(a)") }
                }
            }
        }

        func segments(
            capacity: Int = SegmentContent.usualCapacity, _ effort: SegmentEffort = .standard,
            refers: @escaping () -> Bool = { true }
        ) throws -> [[UInt8]] {
            let pages = try MemoryPages(bytes)
            var segments: [[UInt8]] = []
            try StoreWalk.run(
                over: pages, shapes: shapes, capacities: { (capacity, capacity) }, refers: refers
            ) { segments.append(try $0.encoded(effort, after: pages)) }
            return segments
        }

        /// - Returns: `nil` for segments that are damaged.
        func built(from segments: [[UInt8]]) throws -> [UInt8]? {
            let pageSize = try MemoryPages(bytes).pageSize
            let target = MemoryPages(pageSize: pageSize)
            let builder = StoreBuilder(pageSize: pageSize, pageCount: UInt32(bytes.count / pageSize)) { _ in target }
            do {
                for segment in segments { try builder.append(segment) }
                return builder.isComplete ? target.bytes : nil
            } catch is CompressionError {
                return nil
            }
        }
    }

    private static func refer(_ segment: [UInt8]) -> Bool {
        SegmentForm(rawValue: segment[0]).contains(.runs)
    }

    @Test func `make the store again, wherever they begin`() throws {
        var referring = 0
        for seed in 1...UInt64(Soak.isOn ? 2000 : 60) {
            let copy = try Copy(seed: seed)
            var random = RepeatableRandom(seed: seed)
            let capacity = Int.random(in: 500...30_000, using: &random)
            let segments = try copy.segments(capacity: capacity)
            #expect(try copy.built(from: segments) == copy.bytes, "seed \(seed)")
            referring += segments.count(where: Self.refer)
        }
        #expect(referring > 100)
    }

    @Test func `are refused or make something else, whatever their runs say`() throws {
        let copy = try Copy(seed: 7)
        let segments = try copy.segments(capacity: 4000)
        var random = RepeatableRandom(seed: 1)
        let places = segments.indices.filter { Self.refer(segments[$0]) }
        #expect(places.count > 3)
        for _ in 0..<300 {
            let place = try #require(places.randomElement(using: &random))
            var content = try StoredSegment.bytes(of: segments[place])
            var changed = segments
            changed[place] = content
            #expect(try copy.built(from: Array(changed[...place]) + segments[(place + 1)...]) == copy.bytes)
            content[Int.random(in: 1..<min(60, content.count), using: &random)] = UInt8.random(
                in: 0...255, using: &random)
            changed[place] = content
            _ = try copy.built(from: changed)
        }
    }

    @Test func `count pages as a file gives them`() {
        for (pageSize, hasAutoVacuum) in [(512, true), (65_536, true), (65_536, false)] {
            let geometry = PageGeometry(pageSize: pageSize, reservedBytes: 32, hasAutoVacuum: hasAutoVacuum)
            for first in [1, 3, geometry.lockPage - 4, geometry.lockPage - 1] where !geometry.isSetAside(first) {
                var page = first
                for steps in 1...400 {
                    repeat { page += 1 } while geometry.isSetAside(page)
                    #expect(geometry.page(after: first, by: steps) == page)
                }
            }
        }
    }

    @Test(arguments: [290_000, 700_000, 1_200_000, 2_300_000])
    func `have a long row once, wherever it comes again`(size: Int) throws {
        var random = RepeatableRandom(seed: UInt64(size))
        let value = random.data(size)
        let copy = try Copy("PRAGMA page_size = 4096") { database in
            try database.execute(sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, x)")
            for _ in 0..<Int.random(in: 2...4, using: &random) {
                let row = value + random.data(Int.random(in: 0...5000, using: &random))
                try database.execute(sql: "INSERT INTO a(x) VALUES (?)", arguments: [row])
            }
        }
        let segments = try copy.segments()
        #expect(segments.reduce(0) { $0 + $1.count } < size + size / 20 + 20_000)
        #expect(try copy.built(from: segments) == copy.bytes)
    }

    @Test func `cost little for a table that has what another has`() throws {
        var random = RepeatableRandom(seed: 3)
        let values = (0..<300).map { _ in random.data(Int.random(in: 2000...10_000, using: &random)) }
        let copy = try Copy("PRAGMA page_size = 4096") { database in
            try database.execute(sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, x); CREATE TABLE b (x, y)")
            for value in values { try database.execute(sql: "INSERT INTO a(x) VALUES (?)", arguments: [value]) }
            for value in values.shuffled(using: &random) {
                try database.execute(sql: "INSERT INTO b VALUES (?, ?)", arguments: [value, value.count])
            }
        }
        let alone = try copy.segments(refers: { false })
        let referring = try copy.segments()
        #expect(!alone.contains(where: Self.refer))
        #expect(try copy.built(from: referring) == copy.bytes)
        let (sum, whole) = (referring.reduce(0) { $0 + $1.count }, alone.reduce(0) { $0 + $1.count })
        #expect(sum < whole * 55 / 100, "\(sum) of \(whole)")
    }

    @Test func `are not where nothing comes again, or where a store is one segment`() throws {
        var random = RepeatableRandom(seed: 4)
        let copy = try Copy("PRAGMA page_size = 1024") { database in
            try database.execute(sql: "CREATE TABLE a (x)")
            for _ in 0..<300 { try database.execute(sql: "INSERT INTO a VALUES (?)", arguments: [random.data(9000)]) }
        }
        #expect(try copy.segments() == copy.segments(refers: { false }))
        let small = try Copy("PRAGMA page_size = 1024") { database in
            let value = random.data(90_000)
            try database.execute(sql: "CREATE TABLE a (x); CREATE TABLE b (x)")
            for table in ["a", "b"] { try database.execute(sql: "INSERT INTO \(table) VALUES (?)", arguments: [value]) }
        }
        #expect(try small.segments() == small.segments(refers: { false }))
    }
}

extension RepeatableRandom {
    fileprivate mutating func data(_ count: Int) -> Data {
        Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &self) })
    }

    fileprivate mutating func isTrue(_ part: Int, of all: Int) -> Bool { Int.random(in: 0..<all, using: &self) < part }
}
