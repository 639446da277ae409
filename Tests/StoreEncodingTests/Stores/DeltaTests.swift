import GRDB
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

@Suite struct DeltaTests {
    private static let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"

    private static let tables = """
        CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER, b TEXT, c REAL, d BLOB);
        CREATE TABLE w (k TEXT, n INTEGER, v, PRIMARY KEY (n DESC, k)) WITHOUT ROWID;
        CREATE TABLE o (x);
        \(numbers) INSERT INTO t SELECT i * 2, i % 9, 'Word ' || hex(i * 2654435761 % 65521), i / 4.0, x'0102' FROM n;
        \(numbers) INSERT INTO w SELECT 'k' || i, i % 5, i % 7 FROM n;
        INSERT INTO o VALUES (1), ('two'), (NULL);
        CREATE INDEX ta ON t(a); CREATE INDEX tb ON t(b COLLATE NOCASE, c DESC); CREATE INDEX wv ON w(v);
        CREATE INDEX part ON t(a) WHERE a > 3;
        """

    /// What is done to it, and how many bytes say so, at most.
    @Test(arguments: [
        ("", 16), ("UPDATE t SET a = 77 WHERE id = 500", 40), ("UPDATE t SET c = c + 1 WHERE id % 100 = 0", 60),
        ("UPDATE t SET b = b || ' more' WHERE id % 50 = 0", 80), ("DELETE FROM t WHERE id % 40 = 0", 60),
        ("DELETE FROM t", 40), ("INSERT INTO t SELECT id + 1, a, b, c, d FROM t WHERE id % 100 = 0", 400),
        ("UPDATE t SET id = id + 100001", 90), ("UPDATE w SET v = v + 1 WHERE n = 3", 400),
        ("DELETE FROM w WHERE v = 3", 700), ("INSERT INTO w VALUES ('new', 3, 4)", 60),
        ("CREATE INDEX td ON t(d, a)", 90), ("DROP INDEX ta", 40), ("CREATE TABLE p (q); INSERT INTO p VALUES (5)", 90),
        ("DROP TABLE o", 40), ("ALTER TABLE t RENAME TO renamed", 40_000), ("ALTER TABLE o ADD COLUMN y DEFAULT 3", 60),
        ("ALTER TABLE t DROP COLUMN d", 700), ("PRAGMA user_version = 9", 16), ("PRAGMA page_size = 4096; VACUUM", 16),
        ("PRAGMA auto_vacuum = FULL; VACUUM", 16), ("INSERT INTO t(b) VALUES (zeroblob(400000))", 1000),
        ("CREATE TABLE copy AS SELECT * FROM t", 40_000),
    ])
    func `a change comes out as it was, in few bytes`(change: (sql: String, most: Int)) throws {
        let delta = try DeltaOfStores(Self.tables, change.sql)
        #expect(try delta.applied() == delta.new)
        #expect(delta.size <= change.most)
    }

    private static let words = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"

    @Test func `rows that were renumbered are found by what is in them`() throws {
        let delta = try DeltaOfStores(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
            \(Self.words) INSERT INTO t(a, b) SELECT hex(randomblob(20)), hex(randomblob(30)) FROM n;
            """,
            """
            CREATE TEMP TABLE s AS SELECT * FROM t ORDER BY id; DELETE FROM t;
            INSERT INTO t(a, b) SELECT a, b FROM s WHERE id > 200 AND id <> 250 ORDER BY id;
            INSERT INTO t(a, b) SELECT a, b FROM s WHERE id <= 200 AND id <> 7 ORDER BY id;
            INSERT INTO t(a, b) SELECT a, b || '!' FROM s WHERE id = 7;
            """)
        #expect(try delta.applied() == delta.new)
        // 36 kB of noise.
        #expect(delta.size < 100)
    }

    @Test func `what is in a blob that was deflated is compared, and deflated again`() throws {
        var random = RepeatableRandom(seed: 7)
        let old = random.bytes(4000).map { $0 & 0x7F }
        let new = Array(old[..<2000]) + Array("something new".utf8) + Array(old[2000...])
        func literal(_ content: [UInt8]) throws -> String {
            let parameters = try #require(DeflateParameters(level: 5, memoryLevel: 8, windowBits: 15))
            let blob = try #require(DeflateReplay.deflated(content, with: parameters))
            #expect(Deflate.content(ofBlob: blob[...]) == content)
            return "x'" + blob.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
        }
        let delta = try DeltaOfStores(
            "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, \(try literal(old)))",
            "UPDATE t SET b = \(try literal(new))")
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < 150)
    }

    @Test func `long rows come between others`() throws {
        let delta = try DeltaOfStores(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a);",
            """
            \(Self.words) INSERT INTO t SELECT i * 3, zeroblob(CASE WHEN i % 11 THEN 120000 ELSE 300000 END) FROM n
            WHERE i <= 60
            """)
        #expect(try delta.applied() == delta.new)
        #expect(delta.segments.count > 3)
    }

    @Test func `of a long text only what changed is sent, wherever it is`() throws {
        for length in [3000, 200_000, 900_000] {
            let delta = try DeltaOfStores(
                "CREATE TABLE t (a, b); INSERT INTO t VALUES (1, hex(randomblob(\(length / 2))));",
                """
                UPDATE t SET b = 'start' || substr(b, 1, \(length / 2)) || 'middle' || substr(b, \(length / 2) + 100)
                  || 'end', a = 2
                """)
            #expect(try delta.applied() == delta.new)
            #expect(delta.size < (length < 262_144 ? length * 2 / 3 : 300))
        }
    }

    @Test(arguments: ["UTF-8", "UTF-16le", "UTF-16be"], ["UTF-8", "UTF-16le", "UTF-16be"])
    func `a store in another encoding of texts has the same rows`(first: String, second: String) throws {
        let folder = try ScratchFolder.inMemory()
        func copy(_ encoding: String, _ more: String) throws -> FilePath {
            let name = "\(encoding) \(more.count)"
            let queue = try DatabaseQueue.repeatable(path: folder.path.appending(name))
            try queue.writeWithoutTransaction { database in
                try database.execute(
                    sql: """
                        PRAGMA encoding = '\(encoding)'; CREATE TABLE t (id INTEGER PRIMARY KEY, größe TEXT);
                        CREATE INDEX i ON t(größe); CREATE INDEX n ON t(größe COLLATE NOCASE);
                        \(Self.words) INSERT INTO t SELECT i, 'Größe ' || i * i FROM n; \(more)
                        """)
            }
            let copy = folder.path.appending(name + " copy")
            try queue.vacuum(into: copy.string)
            try queue.close()
            return copy
        }
        let delta = try DeltaOfStores(of: try copy(first, ""), try copy(second, "DELETE FROM t WHERE id = 5"))
        #expect(try delta.applied() == delta.new)
        if first == second { #expect(delta.size < 60) }
    }

    @Test(arguments: MadeStore.all.filter { !$0.content.name.hasPrefix("schema of 3") })
    func `each shape of store comes out of any other`(made: MadeStore) throws {
        let folder = try ScratchFolder.inMemory()
        let (copy, other) = (folder.path.appending("copy"), folder.path.appending("other"))
        try made.makeCopy(at: copy, in: folder)
        let queue = try DatabaseQueue(path: other.string)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA page_size = 2048; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        try queue.close()
        for (old, new) in [(copy, copy), (other, copy), (copy, other)] {
            let delta = try DeltaOfStores(of: old, new, effort: .fast)
            #expect(try delta.applied() == delta.new)
            if old == new { #expect(delta.size < 10) }
            try Self.expectNoMoreThanWhole(delta)
        }
    }

    /// A delta is given up that takes more than the store, unless it is far smaller than the store's file.
    private static func expectNoMoreThanWhole(_ delta: DeltaOfStores) throws {
        var whole = 0
        try StoreWalk.run(over: try MemoryPages(delta.new), shapes: delta.shapes) {
            whole += try $0.encoded(.fast).count
        }
        guard delta.size > whole, delta.size * 1024 > delta.new.count else { return }
        #expect(throws: EncodingFailure.tooLarge) {
            _ = try DeltaOfStores.segments(delta.base, delta.new, delta.shapes, .fast, .ifSmaller)
        }
    }

    @Test func `a file without a canonical form goes by its bytes, wherever they moved`() throws {
        let delta = try DeltaOfStores(
            Self.tables, "UPDATE t SET b = b || ' more' WHERE id = 500; VACUUM", isCanonical: false)
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < delta.new.count / 20)
    }

    @Test func `a delta that grows too large is given up`() throws {
        let delta = try DeltaOfStores(Self.tables, "UPDATE t SET b = hex(randomblob(2000))")
        let (base, new, shapes) = (delta.base, delta.new, delta.shapes)
        #expect(delta.segments.count > 1)
        #expect(throws: EncodingFailure.tooLarge) {
            _ = try DeltaOfStores.segments(base, new, shapes, .fast, limit: 1_000_000)
        }
    }

    // MARK: Any stores

    @Test(arguments: 0..<UInt64(Soak.isOn ? 2000 : 30))
    func `any store becomes any other of its kind`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let store = RandomStore(&random)
        let delta = try DeltaOfStores(
            encoding: ["UTF-8", "UTF-16le"][Int.random(in: 0...1, using: &random)],
            pageSize: [512, 1024, 4096, 65_536][Int.random(in: 0...3, using: &random)], store.making,
            store.changes(&random), effort: [.fast, .smallest][Int.random(in: 0...1, using: &random)])
        #expect(try delta.applied() == delta.new)
    }

    /// SQL that makes tables of any kind, and SQL that changes them in any way.
    private struct RandomStore {
        private(set) var making = ""
        private var tables: [(name: String, columns: Int, hasRowids: Bool)] = []

        init(_ random: inout RepeatableRandom) {
            for table in 0..<Int.random(in: 1...4, using: &random) {
                let columns = Int.random(in: 1...6, using: &random)
                let isKeyed = Int.random(in: 0...3, using: &random) == 0
                let name = "t\(table)"
                let list = (0..<columns).map { "c\($0) \(["INTEGER", "TEXT", "REAL", ""][$0 % 4])" }
                    .joined(separator: ", ")
                let end = isKeyed ? ", PRIMARY KEY (k, n)) WITHOUT ROWID" : ")"
                let key =
                    isKeyed ? "k TEXT, n INTEGER" : ["id INTEGER PRIMARY KEY", "id"].randomElement(using: &random)
                making += "CREATE TABLE \(name)(\(key ?? "id"), \(list)\(end);"
                tables.append((name, columns, !isKeyed))
                making += Self.rows([0, 5, 60, 700].randomElement(using: &random) ?? 1, into: tables[table], &random)
                for index in 0..<Int.random(in: 0...2, using: &random) {
                    let column = Int.random(in: 0..<columns, using: &random)
                    let kind = ["", " DESC", " COLLATE NOCASE", ", c0"].randomElement(using: &random) ?? ""
                    let part = ["", "", " WHERE c0 > 5"].randomElement(using: &random) ?? ""
                    making += "CREATE INDEX i\(table)_\(index) ON \(name)(c\(column)\(kind))\(part);"
                }
            }
        }

        private static func rows(
            _ count: Int, into table: (name: String, columns: Int, hasRowids: Bool), _ random: inout RepeatableRandom
        ) -> String {
            let values = (0..<table.columns).map { _ in
                [
                    "i % 7", "i * 1000003", "'Word ' || i % 40", "hex(i * 2654435761 % 1000003)", "i / 8.0", "NULL",
                    "x'00ff'", "CAST('Größe' || i AS BLOB)", "printf('%.*c', i % 90, 'x')", "i % 3 + 0.5",
                    "CASE i % 50 WHEN 3 THEN zeroblob(300000) ELSE i END",
                ].randomElement(using: &random) ?? "i"
            }
            let names = (0..<table.columns).map { "c\($0)" }.joined(separator: ", ")
            let (key, keys) = table.hasRowids ? ("", "") : ("k, n, ", "'k' || i % 40, i, ")
            return """
                WITH RECURSIVE n(i) AS (SELECT \(Int.random(in: 1...999, using: &random)) UNION ALL SELECT i + 1 FROM n
                LIMIT \(count)) INSERT OR IGNORE INTO \(table.name)(\(key)\(names))
                SELECT \(keys)\(values.joined(separator: ", ")) FROM n WHERE \(count) > 0;
                """
        }

        func changes(_ random: inout RepeatableRandom) -> String {
            (0..<Int.random(in: 0...5, using: &random)).map { number in
                guard let table = tables.randomElement(using: &random) else { return "" }
                let column = "c\(Int.random(in: 0..<table.columns, using: &random))"
                let row = table.hasRowids ? "rowid" : "n"
                let every = [2, 9, 100].randomElement(using: &random) ?? 2
                let target = "\(table.name) SET \(column) ="
                return [
                    "UPDATE \(target) \(column) + 1 WHERE \(row) % \(every) = 1;",
                    "UPDATE \(target) \(column) || ' more';",
                    "UPDATE \(target) 'in' || \(column) WHERE \(row) % \(every) = 1;", "UPDATE \(target) 77;",
                    "DELETE FROM \(table.name) WHERE \(row) % \(every) = 1;",
                    Self.rows([1, 30, 400].randomElement(using: &random) ?? 1, into: table, &random),
                    "UPDATE \(table.name) SET \(row) = -\(row) - 10000;",
                    "UPDATE \(table.name) SET \(row) = \(row) + 50000 WHERE \(row) % \(every) = 1;",
                    "CREATE TABLE copy\(number) AS SELECT * FROM \(table.name);",
                    "CREATE INDEX more\(number) ON \(table.name)(\(column));",
                    "ALTER TABLE \(table.name) ADD COLUMN d\(number) DEFAULT 5;",
                    "PRAGMA user_version = \(every); PRAGMA page_size = 2048; VACUUM;",
                    "PRAGMA auto_vacuum = FULL; VACUUM;", "CREATE VIEW v\(number) AS SELECT 1;",
                    "UPDATE \(target) zeroblob(400000) WHERE \(row) % 90 = 1;",
                ].randomElement(using: &random) ?? ""
            }.joined()
        }
    }
}

/// Deltas that are not what a producer makes.
@Suite struct HostileDeltaTests {
    private static func store() throws -> DeltaOfStores {
        try DeltaOfStores(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER, b TEXT); CREATE INDEX i ON t(a);
            INSERT INTO t VALUES (1, 5, 'one'), (2, 6, 'two'), (3, 7, 'three');
            CREATE TABLE l (a); INSERT INTO l VALUES (zeroblob(300000));
            """, "UPDATE t SET a = 9 WHERE id = 2; UPDATE l SET a = zeroblob(300001) || x'05'")
    }

    /// - Parameter control: What stands in the control area, after the head.
    private static func segment(_ control: [UInt64], text: [UInt8] = []) -> [UInt8] {
        var area: [UInt8] = []
        for number in control { area.appendVarint(number) }
        var bytes: [UInt8] = [0]
        bytes.appendVarint(UInt64(area.count))
        return bytes + [0, 0] + area + text
    }

    @Test(arguments: [
        // No head; one that there is not; trees that there are not.
        [], [8], [2, 2], [2, 1 << 40],
        // An item that there is not, a tree that there is not.
        [0, 9], [0, 0, 7],
        // The schema without a base, from another one, as entries.
        [0, 1, 2, 3, 0], [0, 1, 1, 1, 3, 0], [0, 1, 3, 1, 0],
        // A base that there is not.
        [0, 0, 0, 1, 1, 99, 3, 0],
        // More rows stay than there are; a jump beyond the end, and before the beginning.
        [0, 0, 0, 1, 0, 193, 1, 0, 200], [0, 0, 0, 1, 0, 201, 1, 0, 0, 0, 1998], [0, 0, 0, 1, 0, 201, 1, 0, 0, 0, 5],
        // More events, and more rows, than there may be.
        [0, 0, 0, 1, 0, 193, 1 << 30], [0, 0, 0, 1, 0, 69, 1, 0, 0, 0, 1 << 40],
        // A set of columns that no row has; a difference from a text.
        [0, 0, 0, 1, 0, 67, 1, 0, 0, 1, 1, 40_000], [0, 0, 0, 1, 0, 67, 1, 0, 0, 1, 1, 2, 2, 0, 2],
        // A way that there is not.
        [0, 0, 0, 1, 0, 67, 1, 0, 0, 1, 1, 2, 64],
        // An index that is merged and was not announced; one twice; a table that is derived.
        [0, 0, 1, 3], [0, 0, 0, 1, 8, 2, 0, 1, 8, 0, 1, 8, 3, 0], [0, 0, 0, 2, 1, 8],
        // A long row that is short; one that copies from outside.
        [0, 0, 2, 1, 0, 256, 1, 0, 0, 100, 1], [0, 0, 2, 1, 0, 256, 1, 0, 0, 300_000, 1, 4, 1, 0, 300_000, 2_000_000],
        [0, 0, 2, 1, 0, 256, 1, 0, 0, 300_000, 1, 4, 1, 0, 1 << 33, 0],
        // A file, without its bytes, and beyond the base.
        [1], [1, 4, 1, 0, 1 << 31, 0], [1, 4, 1, 0, 100, 1 << 50], [1, 0, 0],
    ])
    func `what breaks a rule is damaged, and traps nowhere`(control: [UInt64]) throws {
        let store = try Self.store()
        #expect(throws: CompressionError.self) { try store.applied([Self.segment(control)]) }
    }

    @Test func `rows of the base that are not there are no dictionary`() throws {
        let store = try Self.store()
        for run: [UInt64] in [[1, 77, 0, 1], [1, 1, 1 << 39, 1], [17], [1, 1, 0, 1 << 30]] {
            var bytes: [UInt8] = [2]
            for number in run { bytes.appendVarint(number) }
            #expect(throws: CompressionError.self) { try store.applied([bytes + [1, 3, 0]]) }
        }
    }

    @Test func `what is cut, or goes on, or has other bits, is another store or none`() throws {
        let store = try Self.store()
        let segment = store.segments[0]
        var others = 0
        for place in segment.indices {
            for bit: UInt8 in [1, 16, 128] {
                var other = segment
                other[place] ^= bit
                // What decodes is another store, which the digest tells; or the same, said otherwise.
                if (try? store.applied([other])) != store.new { others += 1 }
            }
            #expect((try? store.applied([Array(segment.prefix(place))])) != store.new)
        }
        #expect(others > segment.count * 2)
        #expect(throws: CompressionError.self) { try store.applied([segment + [0]]) }
        #expect(throws: CompressionError.self) { try store.applied([]) }
    }

    @Test func `another base is found out, or makes another store`() throws {
        let store = try Self.store()
        let other = try DeltaOfStores("CREATE TABLE x (y)", "CREATE TABLE z (y)")
        #expect(throws: CompressionError.self) { try store.applied(to: other.base) }
        #expect((try? store.applied(to: store.new)) != store.new)
        var broken = store.base
        for place in stride(from: 200, to: broken.count, by: 97) {
            broken[place] ^= 0x55
            _ = try? store.applied(to: broken)
        }
    }

    @Test func `each segment has budgets of its own`() throws {
        var output = try DeltaOutput(base: nil, .standard, limit: .max) { _ in }
        func rooms() throws -> [StreamRoom] {
            var rooms: [StreamRoom] = []
            try output.encode { _, cost, _ in rooms.append(cost.room) }
            return rooms
        }
        let whole = try rooms()
        try output.encode { _, cost, _ in cost.room = .none }
        try output.wrote(DeltaOutput.capacity - 1)
        #expect(try rooms().allSatisfy { $0 == .none })
        try output.wrote(1)
        #expect(try rooms() == whole && whole.allSatisfy { $0.growth > 0 })
    }
}
