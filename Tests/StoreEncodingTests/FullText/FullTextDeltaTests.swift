import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

@Suite struct `Leaves of full-text indexes in deltas` {
    /// Statements that make a store with a full-text table, and change it.
    private struct Story {
        private var random: RepeatableRandom
        private let words: [String]
        private let isExternal: Bool
        private var nextRow = 1
        private var rows: [Int] = []

        init(seed: UInt64) {
            random = RepeatableRandom(seed: seed)
            var made = random
            words = (0..<made.number(20...300)).map { _ in
                let letters = made.number(0...9) == 0 ? "éÜßñ日本Ωж\u{301}🧂ﬁ" : "etaoinshrdlucmfwypvbgk"
                return String((0..<made.number(1...8)).map { _ in letters.randomElement(using: &made) ?? "e" })
            }
            isExternal = made.number(0...1) == 0
            random = made
        }

        mutating func setUp() -> String {
            let options = [
                isExternal ? ", content = 'texts', content_rowid = 'id'" : "",
                random.number(0...3) == 0 ? ", prefix = '2'" : "",
            ].joined()
            let tables = ["CREATE TABLE texts (id INTEGER PRIMARY KEY, a, b)", "CREATE TABLE behind (x)"].shuffled(
                using: &random)
            return tables.joined(separator: ";") + """
                ;CREATE VIRTUAL TABLE found USING fts5(a, b\(options));
                INSERT INTO found(found, rank) VALUES ('pgsz', \(random.number(64...2000)));
                INSERT INTO behind VALUES (1);
                """ + inserting(random.number(0...80))
        }

        private mutating func text() -> String {
            (0..<random.number(0...30)).map { _ in words[random.number(0...random.number(0...words.count - 1))] }
                .joined(separator: " ")
        }

        private mutating func inserting(_ count: Int) -> String {
            (0..<count).map { _ in
                let (row, a, b) = (nextRow, text(), random.number(0...3) == 0 ? "7" : "'\(text())'")
                rows.append(row)
                nextRow += random.number(1...3)
                let own = isExternal ? "INSERT INTO texts VALUES (\(row), '\(a)', \(b));" : ""
                return own + "INSERT INTO found(rowid, a, b) VALUES (\(row), '\(a)', \(b));"
            }.joined()
        }

        mutating func change() -> String {
            (0..<random.number(1...4)).map { _ in
                switch random.number(0...7) {
                case 0 where !rows.isEmpty && !isExternal:
                    "DELETE FROM found WHERE rowid = \(rows.randomElement(using: &random) ?? 1);"
                case 1 where !rows.isEmpty && !isExternal:
                    "UPDATE found SET a = '\(text())' WHERE rowid = \(rows.randomElement(using: &random) ?? 1);"
                case 2: "INSERT INTO found(found) VALUES ('optimize');"
                case 3: "INSERT INTO found(found, rank) VALUES ('merge', \(random.number(1...50)));"
                case 4: "INSERT INTO behind VALUES ('\(text())');"
                case 5: "INSERT INTO found(found) VALUES ('rebuild');"
                default: inserting(random.number(1...40))
                }
            }.joined()
        }
    }

    @Test(arguments: 1...UInt64(Soak.isOn ? 3000 : 80))
    func `make what the store has, whatever became of it`(seed: UInt64) throws {
        var story = Story(seed: seed)
        let (first, second) = (story.setUp(), story.change())
        let effort: SegmentEffort = [.fast, .standard, .smallest][Int(seed % 3)]
        let delta = try DeltaOfStores(pageSize: seed % 2 == 0 ? 512 : 4096, first, second, effort: effort)
        #expect(try delta.applied() == delta.new)
    }

    /// The leaves of the second index could follow from those of the first, which come as late.
    @Test func `are no content of each other`() throws {
        let texts = (1...60).map { "INSERT INTO f(a) VALUES ('word\($0) and word\($0 % 7)');" }.joined()
        let delta = try DeltaOfStores(
            """
            CREATE VIRTUAL TABLE f USING fts5(a); CREATE TABLE x (y);
            CREATE VIRTUAL TABLE g USING fts5(block, content = 'f_data', content_rowid = 'id');
            """, texts + "INSERT INTO f_data VALUES (1 << 60, 'text'); INSERT INTO g(g) VALUES ('rebuild');")
        #expect(try delta.applied() == delta.new)
    }

    /// A full-text table has its texts behind its leaves, or in another table before it.
    @Test(arguments: ["", ", content = 'texts', content_rowid = 'id'"])
    func `cost hardly more than the texts that are new`(options: String) throws {
        let text = "hex(i * 2654435761 % 65521) || ' ' || hex(i * 40503 % 509) || ' the ' || hex(i * 97 % 31)"
        func rows(_ first: Int, _ last: Int) -> String {
            "WITH RECURSIVE n(i) AS (SELECT \(first) UNION ALL SELECT i + 1 FROM n WHERE i < \(last))"
        }
        func size(_ set: String, _ insert: (Int, Int) -> String) throws -> Int {
            let delta = try DeltaOfStores(set + insert(1, 400), insert(401, 440))
            #expect(try delta.applied() == delta.new)
            return delta.size
        }
        let table = "CREATE TABLE texts (id INTEGER PRIMARY KEY, a);"
        let bare = try size(table) { "\(rows($0, $1)) INSERT INTO texts SELECT i, \(text) FROM n;" }
        let indexed = try size(table + "CREATE VIRTUAL TABLE found USING fts5(a\(options));") { first, last in
            "\(rows(first, last)) INSERT INTO \(options.isEmpty ? "found(rowid, a)" : "texts") SELECT i, \(text) FROM n;"
                + (options.isEmpty
                    ? "" : "INSERT INTO found(rowid, a) SELECT id, a FROM texts WHERE id BETWEEN \(first) AND \(last);")
        }
        #expect(indexed < bare + 250)
    }
}

extension RepeatableRandom {
    fileprivate mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
