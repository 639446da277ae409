import GRDB
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

@Suite struct `Leaves of full-text indexes` {
    private typealias Copy = `Segments that refer to earlier ones`.Copy

    private static func segments(
        _ copy: Copy, capacity: Int = 1 << 20, derives: Bool = true, effort: SegmentEffort = .standard
    ) throws -> [[UInt8]] {
        let pages = try MemoryPages(copy.bytes)
        var segments: [[UInt8]] = []
        try StoreWalk.run(
            over: pages, shapes: copy.shapes, capacities: { (capacity, capacity) }, refers: { true },
            makeSpillFile: derives ? { MemorySpill() } : nil
        ) { segments.append(try $0.encoded(effort, after: pages)) }
        return segments
    }

    private static func size(_ segments: [[UInt8]]) -> Int { segments.reduce(0) { $0 + $1.count } }

    /// A store with a full-text table of words that come more or less often.
    private static func store(_ random: inout RepeatableRandom) throws -> Copy {
        func word(_ random: inout RepeatableRandom) -> String {
            let letters = random.number(0...9) == 0 ? "éÜßñ日本Ωж\u{301}’🧂-_ﬁ" : "etaoinshrdlucmfwypvbgk"
            return String((0..<random.number(1...8)).map { _ in letters.randomElement(using: &random) ?? "e" })
        }
        let words = (0..<random.number(20...400)).map { _ in word(&random) }
        func text(_ random: inout RepeatableRandom) -> String {
            (0..<random.number(0...60)).map { _ in
                let word = words[random.number(0...random.number(0...words.count - 1))]
                return random.number(0...5) == 0 ? word.uppercased() + ", " : word + " "
            }.joined()
        }
        func value(_ random: inout RepeatableRandom) -> (any DatabaseValueConvertible)? {
            switch random.number(0...30) {
            case 0: nil
            case 1: random.number(-5...5000)
            case 2: 1.5
            case 3: String(repeating: text(&random), count: 40)
            default: text(&random)
            }
        }
        let isExternal = random.number(0...2) == 0
        let options = [
            isExternal ? ", content = 'texts', content_rowid = 'id'" : "",
            random.number(0...2) == 0 ? ", prefix = '1 3'" : "",
            ["", "", ", tokenize = \"unicode61 remove_diacritics 0 tokenchars '-_'\"", ", tokenize = 'ascii'"]
                .randomElement(using: &random) ?? "",
        ].joined()
        let pageSize = [512, 1024, 4096].randomElement(using: &random) ?? 4096
        var copied = random
        let copy = try Copy("PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(copied.number(0...1))") {
            database in
            try database.execute(
                sql: """
                    CREATE TABLE texts (id INTEGER PRIMARY KEY, a, more, b);
                    CREATE VIRTUAL TABLE found USING fts5(a, more UNINDEXED, b\(options));
                    CREATE TABLE after (x);
                    INSERT INTO found(found, rank) VALUES ('pgsz', \(copied.number(64...3000)));
                    INSERT INTO found(found, rank) VALUES ('hashsize', 2000);
                    """)
            for row in 1...copied.number(1...150) {
                let (a, b) = (value(&copied), value(&copied))
                let id = row * 3 + copied.number(0...2)
                try database.execute(
                    sql: "INSERT INTO texts VALUES (?, ?, 'x', ?)",
                    arguments: [id, isExternal ? a : nil, isExternal ? b : nil])
                try database.execute(
                    sql: "INSERT INTO found(rowid, a, b) VALUES (?, ?, ?)", arguments: [id, a, b])
                if copied.number(0...9) == 0, !isExternal {
                    try database.execute(sql: "DELETE FROM found WHERE rowid = ?", arguments: [id - 9])
                }
            }
            if copied.number(0...1) == 0 { try database.execute(sql: "INSERT INTO found(found) VALUES ('optimize')") }
        }
        random = copied
        return copy
    }

    @Test func `make the store again, and are hardly larger than what they stand for`() throws {
        var (small, large) = (0, 0)
        for seed in 1...UInt64(Soak.isOn ? 2000 : 60) {
            var random = RepeatableRandom(seed: seed)
            let copy = try Self.store(&random)
            let capacity = random.number(500...30_000)
            #expect(try copy.built(from: Self.segments(copy, capacity: capacity)) == copy.bytes, "seed \(seed)")
            let derived = Self.size(try Self.segments(copy))
            let plain = Self.size(try Self.segments(copy, derives: false))
            // Where an index is written as it is, matches may find most of its terms.
            #expect(derived <= plain + plain / 64 + 256, "seed \(seed)")
            (small, large) = (small + derived, large + plain)
        }
        #expect(small < large * 7 / 8, "\(small) of \(large)")
    }

    @Test func `cost nothing beside the texts`() throws {
        var random = RepeatableRandom(seed: 1)
        let words = (0..<2000).map { _ in
            String((0..<random.number(2...9)).map { _ in "etaoinshrdlucm".randomElement(using: &random) ?? "e" })
        }
        let texts = (0..<400).map { _ in
            (0..<200).map { _ in words[min(random.number(0...1999), random.number(0...1999))] }.joined(separator: " ")
        }
        func copy(_ sql: String) throws -> Copy {
            try Copy("PRAGMA page_size = 4096") { database in
                try database.execute(sql: sql)
                for text in texts { try database.execute(sql: "INSERT INTO f(a) VALUES (?)", arguments: [text]) }
            }
        }
        let (bare, indexed) = (try copy("CREATE TABLE f (a)"), try copy("CREATE VIRTUAL TABLE f USING fts5(a)"))
        let size = Self.size(try Self.segments(indexed))
        #expect(size < Self.size(try Self.segments(bare)) * 105 / 100)
        #expect(Self.size(try Self.segments(indexed, derives: false)) > size * 3 / 2)
    }

    /// Each index has the rowids of all rows, and no leaf that follows from them.
    @Test func `are given up where the texts would be read for index after index in vain`() throws {
        let copy = try Copy("PRAGMA page_size = 4096") { database in
            try database.execute(
                sql: """
                    CREATE VIRTUAL TABLE f USING fts5(a, b UNINDEXED, prefix = '1 2 3');
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
                    INSERT INTO f(rowid, a, b) SELECT i, 'zebra', zeroblob(100000) FROM n;
                    WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
                    INSERT INTO f_data(id, block) SELECT i << 37 | 1, x'0000000d02306101020213020204' FROM n;
                    """)
        }
        let pages = CountedPages(try MemoryPages(copy.bytes))
        var segments: [[UInt8]] = []
        try StoreWalk.run(over: pages, shapes: copy.shapes, makeSpillFile: { MemorySpill() }) {
            segments.append(try $0.encoded(.fast))
        }
        #expect(pages.reads < 20 * Int(pages.pageCount))
        #expect(try copy.built(from: segments) == copy.bytes)
    }

    @Test func `are refused or make something else, whatever they say`() throws {
        var random = RepeatableRandom(seed: 5)
        let copy = try Self.store(&random)
        let segments = try Self.segments(copy, capacity: 4000, effort: .fast)
        for _ in 0..<400 {
            var changed = segments
            let place = random.number(0...segments.count - 1)
            var content = try StoredSegment.bytes(of: segments[place])
            content[random.number(1...min(200, content.count - 1))] = UInt8(random.number(0...255))
            changed[place] = content
            _ = try copy.built(from: changed)
        }
    }
}

extension RepeatableRandom {
    fileprivate mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
