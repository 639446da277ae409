import GRDB
import ShipProtocol
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Deltas of stores that change as those of apps do.
@Suite struct DeltaChangeTests {
    private static let rows = 900

    /// Rows of noise: what is not taken from the base shows.
    private static let noisy = """
        CREATE TABLE note (id INTEGER PRIMARY KEY, flag INTEGER, title TEXT, place REAL, body BLOB);
        CREATE TABLE other (x, y, z);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
        INSERT INTO note SELECT i, i % 3, hex(randomblob(8)), i / 7.0, randomblob(60) FROM n;
        INSERT INTO other SELECT title, flag, randomblob(30) FROM note WHERE id % 2;
        CREATE INDEX note_title ON note(title); CREATE INDEX note_place ON note(place, flag); CREATE INDEX part ON note(title) WHERE flag;
        """

    /// What is done, and how many bytes say so, at most. The rows alone have 100,000.
    @Test(arguments: [
        ("ALTER TABLE note RENAME TO memo", 200),
        ("ALTER TABLE note RENAME TO memo; UPDATE memo SET flag = 9 WHERE id = 7; DELETE FROM memo WHERE id < 5", 320),
        ("ALTER TABLE note RENAME TO tmp; ALTER TABLE other RENAME TO note; ALTER TABLE tmp RENAME TO other", 300),
        ("CREATE TABLE anew AS SELECT * FROM note; DROP TABLE note", 300),
        ("CREATE TABLE copy AS SELECT * FROM note", 250),
        ("DROP INDEX note_title; CREATE INDEX by_title ON note(title)", 150),
        ("DROP INDEX part; CREATE INDEX flagged ON note(title) WHERE flag", 150),
        ("ALTER TABLE note DROP COLUMN body", 150), ("DROP INDEX note_place; ALTER TABLE note DROP COLUMN place", 250),
        ("DROP INDEX note_place; DROP INDEX part; ALTER TABLE note DROP COLUMN flag", 250),
        (
            "DROP INDEX note_place; ALTER TABLE note DROP COLUMN place; UPDATE note SET title = 'x' || title WHERE id % 100 = 0",
            500
        ),
        ("ALTER TABLE other DROP COLUMN x", 200), ("ALTER TABLE other RENAME COLUMN x TO w", 200),
        (
            "CREATE TABLE tmp AS SELECT body, id, title, 5 AS new, flag FROM note; DROP TABLE note; ALTER TABLE tmp RENAME TO note",
            350
        ),
        (
            "ALTER TABLE note RENAME TO memo; ALTER TABLE memo DROP COLUMN body; ALTER TABLE memo ADD COLUMN size DEFAULT 5",
            300
        ),
    ])
    func `what moved to another table or column is not sent again`(change: (sql: String, most: Int)) throws {
        let delta = try DeltaOfStores(Self.noisy, change.sql)
        #expect(try delta.applied() == delta.new)
        #expect(delta.size <= change.most)
    }

    private static func rows(_ count: Int, _ values: String) -> String {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO a SELECT i, \(values) FROM n;"
    }

    /// What is done to a table, and how many bytes say so, at most. Its rows alone have 24,000 to 1,000,000.
    @Test(
        arguments: [
            // A copy leaves nothing that deflate could make shorter.
            ("b", rows(1, "randomblob(60000)"), "INSERT INTO a SELECT 2, b FROM a", 300),
            ("b", "", "INSERT INTO a VALUES (1, randomblob(60000)); INSERT INTO a SELECT 2, b FROM a", 60_300),
            (
                "b", rows(200, "randomblob(700)"),
                "INSERT INTO a SELECT 1000 - id, substr(b, 1, 100 + id) || x'00' || substr(b, 102 + id) FROM a", 5000
            ),
            (
                "guid, at, title", rows(600, "hex(randomblob(16)), 1700000000 + i, hex(randomblob(20))"),
                """
                CREATE TEMP TABLE t AS SELECT * FROM a; DELETE FROM a;
                INSERT INTO a SELECT id + 5000, guid, at + 86400, title FROM temp.t ORDER BY id; DROP TABLE temp.t
                """, 1500
            ),
            (
                "v", rows(1400, "randomblob(700)"),
                """
                CREATE TABLE b (id INTEGER PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO b SELECT * FROM a;
                DROP TABLE a; ALTER TABLE b RENAME TO a
                """, 60_000
            ),
            ("at REAL, v", rows(4000, "1700000000.5 + i * 60.25, i % 7"), "UPDATE a SET at = at + 3600", 600),
        ] as [(String, String, String, Int)], [SegmentEffort.standard, .smallest])
    func `rows that resemble those of the base cost little`(
        change: (columns: String, made: String, sql: String, most: Int), effort: SegmentEffort
    ) throws {
        let made = "CREATE TABLE a (id INTEGER PRIMARY KEY, \(change.columns)); \(change.made)"
        let delta = try DeltaOfStores(made, change.sql, effort: effort)
        #expect(try delta.applied() == delta.new)
        #expect(delta.size <= change.most)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["zeroblob(150000)", "printf('%.150000c', ' ')", "CAST(hex(zeroblob(75000)) AS BLOB)"])
    func `runs of one byte take no longer than other values`(value: String) throws {
        let delta = try DeltaOfStores(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, b);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12) INSERT INTO t(b) SELECT \(value) FROM n;
            """, "INSERT INTO t(b) VALUES (\(value)), (\(value))")
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < 2000)
    }

    /// Both leave out what follows from the texts.
    @Test func `a delta with a new full-text index is hardly larger than the whole`() throws {
        let delta = try DeltaOfStores(
            "CREATE TABLE n(a); INSERT INTO n VALUES (1)",
            """
            CREATE VIRTUAL TABLE f USING fts5(t);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO f(t) SELECT printf('w%d w%d w%d', i * 7919 % 5003, i * 31 % 997, i * i % 5003) FROM n;
            """)
        #expect(try delta.applied() == delta.new)
        let pages = try MemoryPages(delta.new)
        var whole = 0
        try StoreWalk.run(over: pages, shapes: delta.shapes, makeSpillFile: { MemorySpill() }) {
            whole += try $0.encoded(.smallest, after: pages).count
        }
        #expect(delta.size < whole + whole / 50)
    }

    /// Each value comes again, further off than a segment of a delta is long. The first delta takes twice as much as the whole, the second one
    /// only at its end more.
    @Test(arguments: [(540, 60), (660, 560)])
    func `a delta of a large store ends where the whole store takes less`(rows: Int, values: Int) throws {
        let states = try StoreStates(
            pageSize: 4096, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 2)",
            """
            CREATE TEMP TABLE d AS
                WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(values - 1))
                SELECT i, randomblob(8000) AS b FROM n;
            DELETE FROM t;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO t SELECT n.i, b FROM n JOIN d ON d.i = n.i * 7919 % \(values);
            """)
        #expect(throws: EncodingFailure.tooLarge) {
            try DeltaOfStores.segments(states.base, states.new, states.shapes, SegmentEffort(.quick), .ifSmaller)
        }
    }

    @Test func `columns in any order are found, also where they have some values in common`() throws {
        let columns = (0..<8).map { "c\($0)" }
        let values = columns.indices.map { "CASE (i + \($0)) % 9 WHEN 0 THEN NULL ELSE hex(randomblob(9)) END" }
        let delta = try DeltaOfStores(
            """
            CREATE TABLE t (\(columns.joined(separator: ", ")));
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO t SELECT \(values.joined(separator: ", ")) FROM n;
            """,
            "CREATE TABLE u AS SELECT c3, c5, c0, c2, c6, c1, c4, c7 FROM t; DROP TABLE t; ALTER TABLE u RENAME TO t")
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < 200)
    }

    @Test func `columns that hold the same are told apart by their names`() throws {
        let delta = try DeltaOfStores(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, e TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
            INSERT INTO t SELECT i, NULL, NULL, CASE WHEN i > 450 THEN randomblob(50) END, NULL, hex(randomblob(8)) FROM n;
            """, "ALTER TABLE t DROP COLUMN d")
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < 200)
    }

    @Test(arguments: [64, 65, 130])
    func `rows come into a table with more indexes than merge or follow`(count: Int) throws {
        let columns = (0..<10).map { "c\($0)" }
        let rows = { (range: Range<Int>) in
            "INSERT INTO t VALUES "
                + range.map { row in
                    "(" + columns.indices.map { "\(row * 7 % (11 + $0))" }.joined(separator: ", ") + ")"
                }
                .joined(separator: ", ")
        }
        let indexes = (0..<count).map { "CREATE INDEX i\($0) ON t(c\($0 % 10), c\($0 / 10 % 10), c\($0 / 100))" }
        let delta = try DeltaOfStores(
            "CREATE TABLE t (\(columns.joined(separator: ", "))); \(indexes.joined(separator: "; ")); \(rows(0..<400))",
            rows(400..<410))
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < 1500)
    }

    /// Of the indexes of a table whose rows moved, those whose entries have not changed may be such as a consumer does not make.
    @Test func `an index with entries that no consumer makes goes by its entries, whatever its table does`() throws {
        for making in [
            "CREATE TABLE t (a, b); INSERT INTO t VALUES (hex(randomblob(20000)), 1); CREATE INDEX i ON t(a);",
            "CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3); ALTER TABLE t ADD COLUMN b DEFAULT 5; CREATE INDEX i ON t(b);",
        ] {
            let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
            let delta = try DeltaOfStores(
                "\(making) \(many) INSERT INTO t SELECT hex(randomblob(20)), i FROM n;",
                "UPDATE t SET rowid = rowid + 1000 WHERE rowid > 150")
            #expect(try delta.applied() == delta.new)
            #expect(delta.size < 3000)
        }
    }

    @Test(
        arguments: ["", " WITHOUT ROWID"],
        [(300_000, 299_000), (300_000, 200_000), (250_000, 300_000), (400_000, 30_000)])
    func `of a row that is long, or was, only what changed is sent`(ending: String, sizes: (old: Int, new: Int)) throws
    {
        let delta = try DeltaOfStores(
            """
            CREATE TABLE t (k TEXT PRIMARY KEY, a BLOB, n)\(ending);
            INSERT INTO t VALUES ('a', randomblob(300), 1), ('b', randomblob(\(max(sizes.old, sizes.new))), 2), ('c', 'd', 3);
            UPDATE t SET a = substr(a, 1, \(sizes.old)) WHERE k = 'b';
            """,
            sizes.new > sizes.old
                ? "DELETE FROM t WHERE k = 'a'; UPDATE t SET a = a || zeroblob(\(sizes.new - sizes.old)), n = 7 WHERE k = 'b'"
                : "DELETE FROM t WHERE k = 'a'; UPDATE t SET a = substr(a, 1, \(sizes.new)), n = 7 WHERE k = 'b'")
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < 1000)
    }

    /// Each new row could come from it.
    @Test func `a long row that has gone is read once for all new rows`() throws {
        func reads(_ rows: Int) throws -> Int {
            let states = try StoreStates(
                pageSize: 4096,
                """
                CREATE TABLE t (id INTEGER PRIMARY KEY, b);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
                INSERT INTO t SELECT i, randomblob(50) FROM n;
                INSERT INTO t VALUES (1000, randomblob(1000000));
                """,
                """
                DELETE FROM t WHERE id = 1000;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                INSERT INTO t SELECT 1000 + i, randomblob(1500) FROM n;
                """)
            let base = CountedPages(try MemoryPages(states.base))
            var segments: [[UInt8]] = []
            try DeltaEncoder(
                from: base, to: try MemoryPages(states.new), shapes: states.shapes, effort: .smallest,
                makeSpillFile: { MemorySpill() }
            ).encode { segments.append($0.bytes) }
            #expect(try states.applied(segments) == states.new)
            return base.reads
        }
        #expect(try reads(40) < reads(1) + 1000)
    }

    @Test func `a table that is known to be unchanged is not compared, and the check finds out if it is not`() throws {
        let states = try StoreStates(
            pageSize: 1024,
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a);
            CREATE TABLE u (id INTEGER PRIMARY KEY, b);
            CREATE INDEX ui ON u (b);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            INSERT INTO u SELECT i, hex(i * i) FROM n;
            INSERT INTO t VALUES (1, 'a');
            """, "UPDATE t SET a = 'b'")
        func delta(knowing unchanged: Set<ForeignText>) throws -> (segments: [[UInt8]], reads: Int) {
            let base = CountedPages(try MemoryPages(states.base))
            var segments: [[UInt8]] = []
            try DeltaEncoder(
                from: base, to: try MemoryPages(states.new), shapes: states.shapes, unchanged: unchanged,
                effort: .smallest, makeSpillFile: { MemorySpill() }
            ).encode { segments.append($0.bytes) }
            return (segments, base.reads)
        }
        let (known, compared) = (try delta(knowing: ["u"]), try delta(knowing: []))
        #expect(known.segments == compared.segments)
        #expect(known.reads < compared.reads)
        #expect(try states.applied(known.segments) == states.new)
        #expect(throws: EncodingFailure.selfCheckFailed) { _ = try delta(knowing: ["t"]) }
    }

    @Test func `rows that change after others have gone find what they were, in a table without rowids`() throws {
        let delta = try DeltaOfStores(
            """
            CREATE TABLE t (k TEXT PRIMARY KEY, a TEXT) WITHOUT ROWID;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO t SELECT 'key ' || (1000 + i), hex(randomblob(20)) FROM n;
            """, "DELETE FROM t WHERE k = 'key 1003'; UPDATE t SET a = a || '!' WHERE substr(k, -1) = '5'")
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < 200)
    }

    @Test func `many rows that go apart take several segments`() throws {
        let delta = try DeltaOfStores(
            pageSize: 65_536,
            """
            CREATE TABLE t (a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) INSERT INTO t SELECT 0 FROM n;
            """, "DELETE FROM t WHERE rowid % 2 = (rowid >> 9) % 2", effort: .fast)
        #expect(try delta.applied() == delta.new)
        #expect(delta.segments.count > 1)
    }

    // MARK: Any change

    @Test(arguments: 0..<UInt64(Soak.isOn ? 3000 : 40))
    func `any change of a store comes out of a delta, which is no larger than the store`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue.repeatable(path: folder.path.appending("source"))
        let (old, new) = (folder.path.appending("old"), folder.path.appending("new"))
        func change(_ times: ClosedRange<Int>) throws -> [RandomChange] {
            try (0..<Int.random(in: times, using: &random)).compactMap { _ in
                try queue.writeWithoutTransaction { try RandomChange.made(in: $0, &random) }
            }
        }
        try queue.writeWithoutTransaction { try $0.execute(sql: Self.store(&random)) }
        let before = try change(0...3)
        try queue.vacuum(into: old.string)
        let changes = try change(1...4)
        try queue.vacuum(into: new.string)
        try queue.close()
        // VACUUM INTO leaves pages unused in a few stores with auto-vacuum: they have no canonical form.
        let isCanonical = [old, new].allSatisfy { path in
            (try? MemoryPages.canonicalForm(of: PageReading.bytes(of: path))) != nil
        }
        let effort: SegmentEffort = [.fast, .smallest][Int.random(in: 0...1, using: &random)]
        let comment = Comment("\(changes.map { "\($0.kind): \($0.sql.prefix(200))" })")
        let delta = try DeltaOfStores(of: old, new, effort: effort, isCanonical: isCanonical)
        #expect(try delta.applied() == delta.new, comment)
        guard isCanonical else { return }
        let whole = try WalkedStore(of: new).contents.reduce(0) { try $0 + $1.encoded(effort).count }
        // Equal values of several long rows are found within a segment, and those of the whole hold more.
        if !(before + changes).contains(where: { $0.kind == .growRow }) {
            #expect(delta.size <= whole + whole / 64 + 64, comment)
        }
        if changes.allSatisfy(\.keepsRows) {
            #expect(delta.size <= 600 + 200 * changes.count + whole / 8, comment)
        }
    }

    /// SQL that makes a small store.
    private static func store(_ random: inout RepeatableRandom) -> String {
        let tables = (0..<Int.random(in: 1...5, using: &random)).map { table in
            let columns = (0..<Int.random(in: 1...9, using: &random)).map {
                ("c\($0)", ["INTEGER", "TEXT", "REAL", "BLOB", ""][Int.random(in: 0...4, using: &random)])
            }
            let key = [
                "id INTEGER PRIMARY KEY", "k TEXT PRIMARY KEY", "k TEXT COLLATE NOCASE PRIMARY KEY NOT NULL",
                "k TEXT UNIQUE",
            ][Int.random(in: 0...3, using: &random)]
            let ending =
                key.contains("TEXT PRIMARY") && Int.random(in: 0...1, using: &random) == 0 ? " WITHOUT ROWID" : ""
            let rows = (0..<[0, 3, 40, 300, 900][Int.random(in: 0...4, using: &random)]).map { row in
                let values = columns.map { _ in value(row, &random) }.joined(separator: ", ")
                return "(\(key.hasPrefix("id") ? "\(row * 3 + 1)" : "'key \(row)'"), \(values))"
            }
            let list = columns.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
            return "CREATE TABLE t\(table)(\(key), \(list))\(ending);"
                + (rows.isEmpty ? "" : "INSERT INTO t\(table) VALUES \(rows.joined(separator: ", "));")
        }
        return "PRAGMA page_size = \(512 << Int.random(in: 0...7, using: &random)); \(tables.joined())"
    }

    private static func value(_ row: Int, _ random: inout RepeatableRandom) -> String {
        let number = Int.random(in: 0...1_000_000, using: &random)
        return switch row % 7 == 3 ? Int.random(in: 0...6, using: &random) : row % 3 {
        case 0: "\(number)"
        case 1: "'Word \(number) and \(number * 7919 % 104_729)'"
        case 2:
            "x'\(String(number * 1_000_003, radix: 16).count % 2 == 0 ? "" : "0")\(String(number * 1_000_003, radix: 16))'"
        case 3: "\(Double(number) / 8)"
        case 4: "NULL"
        case 5: "\(number % 5)"
        default: "''"
        }
    }
}
