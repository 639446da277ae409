import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreServing

/// Which rows of a table changed, where rows are asked for.
@Suite struct ChangedRowsTests {
    private let scratch: ScratchFolder
    private let inbox: SampleInbox

    init() throws {
        scratch = try ScratchFolder()
        inbox = try SampleInbox(keeping: 2, in: scratch)
    }

    @discardableResult
    private func install(_ sql: String, preparation: String = "") async throws -> Generation {
        let path = scratch.path.appending("\(UUID().uuidString).sqlite")
        try TestStore.make(at: path, preparation: preparation, sql: sql)
        return try await inbox.install(fileAt: path)
    }

    private func told(rows: Bool = true) throws -> Told {
        Told(try StoreCoordinator(inbox: inbox.root).changes(rows: rows))
    }

    private func change(
        from old: String, to new: String, preparation: (String, String) = ("", "")
    ) async throws -> GenerationChange {
        try await install(old, preparation: preparation.0)
        let told = try told()
        try await install(new, preparation: preparation.1)
        return try await told.generation()
    }

    /// What is told of a table, in words: `id +3 ~1 -2`, or why it is told as a whole.
    private static func words(_ change: GenerationChange, _ table: ForeignText = "t") -> String? {
        guard let table = change.difference.tables?.first(where: { $0.name == table }) else { return nil }
        return table.rows.map(words)
    }

    private static func words(_ rows: RowChanges) -> String {
        switch rows {
        case .table(let reason): reason.rawValue
        case .rows(let rows):
            ([rows.keyColumns.map(\.unescaped).joined(separator: ",")]
                + [("+", rows.inserted), ("~", rows.updated), ("-", rows.deleted)].flatMap { sign, rows in
                    rows.map { sign + $0.key.map { "\($0)" }.joined(separator: "/") }
                }).joined(separator: " ")
        }
    }

    private static let encodings = ["", "PRAGMA encoding = 'UTF-16le'", "PRAGMA encoding = 'UTF-16be'"]

    @Test(arguments: encodings)
    func `rows are told by what tells them from others`(preparation: String) async throws {
        let old = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (-5, 1), (1, 'x'), (2, 'y'), (9, NULL);
            CREATE TABLE named(name TEXT PRIMARY KEY, a);
            INSERT INTO named(rowid, name, a) VALUES (3, 'a', 1), (4, 'b', 1);
            CREATE TABLE bare(a); INSERT INTO bare(rowid, a) VALUES (7, 1), (8, 2);
            CREATE TABLE pairs(v, a TEXT, b INTEGER, PRIMARY KEY(b DESC, a)) WITHOUT ROWID;
            INSERT INTO pairs VALUES (0, 'k', 1), (0, 'ü', 1), (0, 'k', 2);
            """
        let new = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (-5, 1), (0, 1), (1, 'z'), (9, NULL), (10, 1);
            CREATE TABLE named(name TEXT PRIMARY KEY, a);
            INSERT INTO named(rowid, name, a) VALUES (3, 'a', 2), (5, 'c', 1);
            CREATE TABLE bare(a); INSERT INTO bare(rowid, a) VALUES (8, 2), (9, 2);
            CREATE TABLE pairs(v, a TEXT, b INTEGER, PRIMARY KEY(b DESC, a)) WITHOUT ROWID;
            INSERT INTO pairs VALUES (0, 'j', 3), (1, 'ü', 1), (0, 'k', 2);
            """
        let change = try await change(from: old, to: new, preparation: (preparation, preparation))
        #expect(Self.words(change) == "id +0 +10 ~1 -2")
        #expect(Self.words(change, "named") == "rowid +5 ~3 -4")
        #expect(Self.words(change, "bare") == "rowid +9 -7")
        #expect(Self.words(change, "pairs") == "b,a +3/\"j\" ~1/\"ü\" -1/\"k\"")
    }

    @Test func `a key is what SQLite takes for one`() async throws {
        // A primary key in descending order is none of the rowid's names [sqlite.org/lang_createtable.html#rowid].
        let change = try await change(
            from: """
                CREATE TABLE t(id INTEGER PRIMARY KEY DESC, a); INSERT INTO t(rowid, id, a) VALUES (1, 50, 1);
                CREATE TABLE "a ""b"(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID;
                INSERT INTO "a ""b" VALUES ('tea', 1), ('Soup', 1), ('bun ', x'00');
                CREATE TABLE r(k PRIMARY KEY COLLATE RTRIM) WITHOUT ROWID; INSERT INTO r VALUES ('a  '), (1.5), (x'0102');
                """,
            to: """
                CREATE TABLE t(id INTEGER PRIMARY KEY DESC, a); INSERT INTO t(rowid, id, a) VALUES (1, 51, 1);
                CREATE TABLE "a ""b"(k TEXT COLLATE NOCASE PRIMARY KEY, v) WITHOUT ROWID;
                INSERT INTO "a ""b" VALUES ('Tea', 1), ('SOUP', 1), ('bun', x'00');
                CREATE TABLE r(k PRIMARY KEY COLLATE RTRIM) WITHOUT ROWID; INSERT INTO r VALUES ('a'), (2.5), (x'0103');
                """)
        #expect(Self.words(change) == "rowid ~1")
        #expect(Self.words(change, "a \"b") == "k +\"bun\" ~\"SOUP\" ~\"Tea\" -\"bun \"")
        guard case .rows(let rows)? = change.difference.tables?.first(where: { $0.name == "r" })?.rows else {
            Issue.record("no rows")
            return
        }
        #expect(rows.inserted.map(\.key) == [[Double(2.5).databaseValue], [Data([1, 3]).databaseValue]])
        #expect(rows.updated.map(\.key) == [["a".databaseValue]])
        #expect(rows.deleted.map(\.key) == [[Double(1.5).databaseValue], [Data([1, 2]).databaseValue]])
    }

    @Test func `a rowid has a name that no column has`() async throws {
        func tables(_ rows: String) -> String {
            ["r(rowid TEXT, b)", "s(\"RowID\" TEXT, _rowid_)", "t(rowid, _rowid_, oid AS (1))"].map {
                "CREATE TABLE \($0); INSERT INTO \($0.prefix(1)) VALUES \(rows);"
            }.joined()
        }
        let change = try await change(from: tables("('x', 1)"), to: tables("('x', 1), ('y', 2)"))
        #expect(Self.words(change, "r") == "_rowid_ +2")
        #expect(Self.words(change, "s") == "oid +2")
        #expect(Self.words(change, "t") == "unknown")
    }

    @Test(arguments: ["", "PRAGMA page_size = 1024"])
    func `long rows are compared to their ends, whatever the pages`(preparation: String) async throws {
        let rows = "(1, zeroblob(3000)), (2, zeroblob(900000)), (3, zeroblob(400000) || x'05'), (4, 1)"
        let others = "(1, zeroblob(3000)), (2, zeroblob(900000)), (3, zeroblob(400000) || x'06'), (4, 1)"
        let table = "CREATE TABLE t(id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES "
        let change = try await change(from: table + rows, to: table + others, preparation: ("", preparation))
        #expect(Self.words(change) == "id ~3")
    }

    @Test func `what cannot be told row by row is told as a table, with the reason`() async throws {
        let change = try await change(
            from: """
                CREATE TABLE gone(a); CREATE TABLE t(a); INSERT INTO t VALUES (1);
                CREATE TABLE long(k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO long VALUES (1, zeroblob(300000));
                """,
            to: """
                CREATE TABLE come(a); CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2);
                CREATE TABLE long(k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO long VALUES (1, zeroblob(300001));
                """)
        #expect(Self.words(change, "come") == "new")
        #expect(Self.words(change, "gone") == "gone")
        #expect(Self.words(change) == "declaration")
        #expect(Self.words(change, "long") == "unknown")
    }

    @Test func `tables are told apart by the bytes of their names, whatever these are`() async throws {
        let names = ["caf\u{E9}", "cafe\u{301}", #"a"b"#, "o'clock"]
        let made = names.map {
            "CREATE TABLE \($0.quoted)(id INTEGER PRIMARY KEY); INSERT INTO \($0.quoted) VALUES (1);"
        }
        let filled = names.map { "INSERT INTO \($0.quoted) VALUES (2);" }
        let altered = names.map { "ALTER TABLE \($0.quoted) ADD COLUMN n DEFAULT 3;" }
        let all = made.joined()
        let rows = try await change(from: all, to: all + filled.joined())
        #expect(names.map { Self.words(rows, ForeignText($0)) } == names.map { _ in "id +2" })
        let columns = try await change(from: all, to: all + altered.joined())
        #expect(names.map { Self.words(columns, ForeignText($0)) } == names.map { _ in "declaration" })
        #expect(columns.difference.tables?.allSatisfy { $0.rowsBefore == 1 && $0.rowsAfter == 1 } == true)
    }

    @Test func `stores with other text encodings are not compared row by row`() async throws {
        let change = try await change(
            from: "CREATE TABLE t(a)", to: "CREATE TABLE t(a); INSERT INTO t VALUES ('x')",
            preparation: ("", "PRAGMA encoding = 'UTF-16le'"))
        #expect(Self.words(change) == "unknown")
    }

    @Test func `rows are told of no one who did not ask`() async throws {
        try await install("CREATE TABLE t(a)")
        let (told, other) = (try told(rows: false), try self.told())
        try await install("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let change = try await told.generation()
        #expect(change.difference.tables?.map(\.name) == ["t"])
        #expect(change.difference.tables?.first?.rows == nil)
        #expect(change.difference.changedObjects == nil)
        #expect(try await Self.words(other.generation()) == "rowid +1")
    }

    @Test func `where the generation before is gone the rows are not known`() async throws {
        let told = try told()
        try await install("CREATE TABLE t(a)")
        #expect(try await Self.words(told.generation()) == "new")
        for rows in 1...3 { try await install("CREATE TABLE t(a); INSERT INTO t VALUES (\(rows))") }
        // What was in its tables is known, and no more.
        #expect(try await Self.words(told.generation()) == "unknown")
        let coordinator = StoreCoordinator(inbox: inbox.root)
        // Which tables differ from what is not kept any more is not known either.
        let late = try await Told(coordinator.changes(since: 1, rows: true)).generation()
        #expect(late.from == nil && late.difference.tables == nil)
        let first = try await Told(coordinator.changes(since: 0, rows: true)).generation()
        #expect(Self.words(first) == "new")
    }

    @Test func `both generations are held while they are compared, and neither afterwards`() async throws {
        let old = try await install("CREATE TABLE t(a)")
        let new = try await install("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let changed = [GenerationDifference.TableChange(name: "t", rowsBefore: 0, rowsAfter: 1, rows: nil)]
        var looks = 0
        let told = RowComparison.tell(changed, from: old, to: new) {
            // The first is held before the other one is opened.
            looks += 1
            #expect(old.isHeld == true)
        }
        #expect(looks > 0)
        #expect(told.map { $0.rows.map(Self.words) } == ["rowid +1"])
        #expect(old.isHeld == false && new.isHeld == false)
        // One that is being pruned is not waited for.
        let pruning = try FolderLock.take(.exclusive, on: old.path)
        let pruned = RowComparison.tell(changed, from: old, to: new) {}
        #expect(pruned.map { $0.rows.map(Self.words) } == ["unknown"])
        withExtendedLifetime(pruning) { _ in }
    }
}

/// What is told is bounded.
extension ChangedRowsTests {
    private static func numbers(_ count: Int, _ values: String) -> String {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) SELECT \(values) FROM n"
    }

    @Test func `beyond so many rows of a store a table is told as a whole, and the next one as it is`() async throws {
        let tables = "CREATE TABLE a(x); CREATE TABLE b(x); CREATE TABLE c(x); CREATE TABLE d(x);"
        let change = try await change(
            from: tables,
            to: """
                \(tables) INSERT INTO a \(Self.numbers(ChangedRows.most - 2, "i"));
                INSERT INTO b VALUES (1), (2), (3); INSERT INTO c VALUES (1), (2); INSERT INTO d VALUES (1);
                """)
        guard case .rows(let rows)? = change.difference.tables?.first?.rows else {
            Issue.record("no rows")
            return
        }
        #expect(rows.inserted.map(\.key) == (1...Int64(ChangedRows.most - 2)).map { [$0.databaseValue] })
        #expect(["b", "c", "d"].map { Self.words(change, $0) } == ["too-many", "rowid +1 +2", "too-many"])
        #expect(change.difference.changedObjects == nil)
    }

    @Test func `keys that are too long together are not told`() async throws {
        let table = "CREATE TABLE t(k PRIMARY KEY) WITHOUT ROWID; CREATE TABLE u(k PRIMARY KEY) WITHOUT ROWID;"
        let long = "zeroblob(\(ChangedRows.mostKeyBytes / 8)) || i"
        let change = try await change(
            from: table,
            to: "\(table) INSERT INTO t \(Self.numbers(8, long)); INSERT INTO u \(Self.numbers(7, long))")
        #expect(Self.words(change) == "too-many")
        #expect(Self.words(change, "u")?.hasPrefix("k +") == true)
    }
}

/// Stores are checked when they come in; damage may come later.
extension ChangedRowsTests {
    /// A generation in a folder of its own.
    private func generation(_ number: Int, _ bytes: [UInt8]) throws -> Generation {
        let folder = scratch.path.appending("damaged-\(number)")
        try? PlatformCalls.makeFolder(folder)
        let generation = Generation(
            number: number, path: folder, manifest: try SampleWords().manifest("Recipes", bytes))
        try Data(bytes).write(to: URL(fileURLWithPath: generation.storePath.string))
        return generation
    }

    @Test func `damage harms nothing`() async throws {
        var random = RepeatableRandom(seed: 11)
        var sound: [[UInt8]] = []
        for rows in [30, 40] {
            let path = scratch.path.appending("\(rows).sqlite")
            let sample = try CoreDataSample(at: path, journalMode: "DELETE")
            try TestStore.make(
                at: sample.path,
                sql: """
                    INSERT INTO ZRECIPE \(Self.numbers(rows, "i + 10, 1, 1, 'Tea ' || i, zeroblob(i * 40)"));
                    CREATE TABLE pairs(v, a TEXT COLLATE NOCASE, b, PRIMARY KEY(b DESC, a)) WITHOUT ROWID;
                    INSERT INTO pairs \(Self.numbers(rows * 2, "i, 'k' || i, i % 7"));
                    CREATE TABLE long(a); INSERT INTO long VALUES (zeroblob(300000) || \(rows));
                    PRAGMA page_size = 512; VACUUM;
                    """)
            sound.append(Array(try Data(contentsOf: URL(fileURLWithPath: path.string))))
        }
        let changed = ["ZRECIPE", "pairs", "long"].map {
            GenerationDifference.TableChange(name: $0, rowsBefore: 1, rowsAfter: 1, rows: nil)
        }
        var found: Set<String> = []
        for _ in 0..<(Soak.isOn ? 20_000 : 400) {
            var bytes = sound
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let side = Int.random(in: 0...1, using: &random)
                // Most of the bytes are of the long row.
                let page = 512 * Int.random(in: 0..<40, using: &random) % bytes[side].count
                let place = page + Int.random(in: 0..<(Bool.random(using: &random) ? 16 : 512), using: &random)
                bytes[side][place] = UInt8.random(in: 0...255, using: &random)
            }
            let told = RowComparison.tell(
                changed, from: try generation(0, bytes[0]), to: try generation(1, bytes[1])
            ) {}
            for rows in told.compactMap(\.rows) {
                guard case .table(let reason) = rows else {
                    found.insert("rows")
                    continue
                }
                found.insert(reason.rawValue)
            }
        }
        #expect(found.isSuperset(of: ["rows", "unknown"]))
    }
}

/// A store that Core Data made.
extension ChangedRowsTests {
    private func installSample(_ sql: String = "") async throws {
        let path = scratch.path.appending("\(UUID().uuidString).sqlite")
        let sample = try CoreDataSample(at: path, journalMode: "DELETE")
        try sample.addSubentity()
        try sample.addHistory(transactions: 2)
        try TestStore.make(at: path, sql: sql)
        try await inbox.install(fileAt: path)
    }

    private func change(by sql: String, after first: String = "") async throws -> GenerationChange {
        try await installSample(first)
        let told = try told()
        try await installSample(first + sql)
        return try await told.generation()
    }

    private static func id(_ name: String) throws -> URL {
        try #require(URL(string: "x-coredata://\(CoreDataSample.identity)/\(name)"))
    }

    @Test func `objects are told by their entities and their IDs`() async throws {
        let change = try await change(
            by: """
                INSERT INTO ZRECIPE VALUES (902, 3, 1, 'Jelly', NULL), (903, 1, 1, 'Bun', zeroblob(500000));
                UPDATE ZRECIPE SET ZNAME = 'Trifle, too', Z_OPT = 2 WHERE Z_PK = 901; DELETE FROM ZRECIPE WHERE Z_PK = 2;
                UPDATE Z_PRIMARYKEY SET Z_MAX = 903 WHERE Z_ENT = 1;
                INSERT INTO ACHANGE(Z_ENT, Z_OPT) VALUES (16001, 1);
                """)
        #expect(Self.words(change, "ZRECIPE") == "Z_PK +902 +903 ~901 -2")
        #expect(Self.words(change, "ACHANGE") == "Z_PK +3")
        guard case .rows(let rows)? = change.difference.tables?.first(where: { $0.name == "ZRECIPE" })?.rows else {
            Issue.record("no rows")
            return
        }
        #expect(rows.inserted.map(\.entity) == ["Dessert", "Recipe"])
        #expect((rows.updated + rows.deleted).map(\.entity) == ["Dessert", "Recipe"])
        let objects = try #require(change.difference.changedObjects)
        #expect(try objects.inserted == [Self.id("Dessert/p902"), Self.id("Recipe/p903")])
        #expect(try objects.updated == [Self.id("Dessert/p901")])
        #expect(try objects.deleted == [Self.id("Recipe/p2")])
    }

    @Test(arguments: [
        "UPDATE Z_METADATA SET Z_UUID = 'E56E3D1F-3B0C-4C5C-8E0E-5A0B0C5D7A11'",
        "UPDATE Z_METADATA SET Z_UUID = 'none'",
        "ALTER TABLE ZRECIPE ADD ZLATER", "UPDATE Z_PRIMARYKEY SET Z_NAME = '' WHERE Z_ENT = 1",
        "UPDATE ZRECIPE SET Z_ENT = 'x' WHERE Z_PK = 1",
    ])
    func `objects whose IDs are not known are not told`(sql: String) async throws {
        let change = try await change(by: "UPDATE ZRECIPE SET ZNAME = 'Other'; \(sql)")
        #expect(change.difference.changedObjects == nil)
        #expect(change.difference.tables?.contains { $0.name == "ZRECIPE" } == true)
    }

    @Test func `history takes no room from objects`() async throws {
        let change = try await change(
            by: """
                INSERT INTO ACHANGE(Z_ENT) \(Self.numbers(ChangedRows.most, "16001"));
                UPDATE ZRECIPE SET ZNAME = 'Other' WHERE Z_PK = 1;
                """)
        #expect(Self.words(change, "ACHANGE") == "too-many")
        #expect(try change.difference.changedObjects?.updated == [Self.id("Recipe/p1")])
    }

    @Test func `any name of an entity makes an ID`() async throws {
        let change = try await change(
            by: "UPDATE ZRECIPE SET ZNAME = 'Other' WHERE Z_PK = 1",
            after: "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Rezept/ü %' WHERE Z_ENT = 1;")
        #expect(try change.difference.changedObjects?.updated == [Self.id("Rezept%2F%C3%BC%20%25/p1")])
    }

    @Test func `a store that Core Data did not make has no objects`() async throws {
        try await install("CREATE TABLE t(a)")
        let told = try told()
        try await install("CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let objects = try #require(try await told.generation().difference.changedObjects)
        #expect(objects == ChangedObjects())
    }
}

extension String {
    /// As a name in SQL.
    fileprivate var quoted: String { "\"" + replacing("\"", with: "\"\"") + "\"" }
}
