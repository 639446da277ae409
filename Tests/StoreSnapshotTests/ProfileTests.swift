import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

/// What is left out of a copy on the user's word.
@Suite struct ProfileTests {
    private let scratch: ScratchFolder
    private let home: FilePath
    private let temporary: FilePath
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        home = try scratch.folder("home")
        temporary = try scratch.folder("temporary")
        path = home.appending("store.sqlite")
    }

    /// What there was to see of a copy, which is gone.
    private struct Seen {
        let content: StoreContent
        let facts: StoreFacts
        let identity: ForeignText?
        let tables: [ForeignText: TableContent]?
        let omissions: Omissions?
        let externalFiles: [ExternalFile]
        let missing: [ExternalFileName]
        /// Names of the files in its folder, sorted.
        let files: [String]

        init(_ copy: borrowing CompactCopy) throws {
            content = try StoreContent(of: copy.path)
            (facts, identity, tables, omissions) = (copy.facts, copy.identity, copy.tables, copy.omissions)
            (externalFiles, missing) = (copy.externalFiles.map(\.file), copy.missingExternalFiles)
            files = try Folder.names(in: copy.path.removingLastComponent()).sorted()
        }
    }

    /// Takes a copy, which must leave the store and its folder as they were.
    @discardableResult
    private func copy(_ profile: CopyProfile = CopyProfile()) async throws -> Seen {
        let before = try FolderListing(of: home)
        let seen = try Seen(try await SourceStore(at: path).compactCopy(in: temporary, profile))
        #expect(try FolderListing(of: home) == before)
        #expect(try Folder.names(in: temporary) == [])
        return seen
    }

    private func profile(_ change: (inout CopyProfile) -> Void) -> CopyProfile {
        var profile = CopyProfile()
        change(&profile)
        return profile
    }

    @Test func `the history is left out, but not its keys`() async throws {
        let sample = try CoreDataSample(at: path)
        try sample.addSubentity()
        try sample.addHistory(transactions: 400)
        let whole = try await copy()
        let copy = try await copy(profile { $0.leavesOutHistory = true })
        let source = try StoreContent(of: path)
        for (table, rows) in source.tables {
            let isEmptied = ["ACHANGE", "ATRANSACTION"].contains(table)
            #expect(copy.content.tables[table] == (isEmptied ? [] : rows), "\(table)")
        }
        #expect(copy.omissions == Omissions(history: true, tables: [], externalFiles: []))
        #expect(copy.facts.schemaSHA256 == whole.facts.schemaSHA256)
        #expect(copy.facts.size < whole.facts.size)
        #expect(copy.identity == ForeignText(CoreDataSample.identity))
        #expect(copy.tables?["ACHANGE"]?.rows == 0)
        #expect(copy.tables?["ZRECIPE"]?.rows == 4)
    }

    /// The second one's name would be a condition, were it not quoted.
    @Test func `a name with quotes in it is a name`() async throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE "a""b"("c""d" TEXT PRIMARY KEY); INSERT INTO "a""b" VALUES ('one'), ('two');
                CREATE TABLE "kept"(a); INSERT INTO kept VALUES (1);
                CREATE TABLE "kept"" WHERE 1; --"(a); INSERT INTO "kept"" WHERE 1; --" VALUES (2);
                CREATE TABLE "Z""Q"(Z_PK INTEGER PRIMARY KEY, "Z""DATA" BLOB);
                """)
        let source = try StoreContent(of: path)
        #expect(try await copy().content == source)
        for table in ["a\"b", "kept\" WHERE 1; --"] {
            let copy = try await copy(profile { $0.emptiedTables = [table] })
            #expect(copy.content.tables[table] == [])
            #expect(copy.omissions?.tables == [ForeignText(table)])
            for (name, rows) in source.tables where name != table {
                #expect(copy.content.tables[name] == rows, "\(name)")
            }
        }
    }

    @Test func `a store without history says nothing of it`() async throws {
        _ = try CoreDataSample(at: path)
        let copy = try await copy(profile { $0.leavesOutHistory = true })
        #expect(copy.omissions == nil)
        #expect(try copy.content == StoreContent(of: path))
        let plain = home.appending("plain.sqlite")
        try TestStore.make(
            at: plain, sql: "CREATE TABLE ACHANGE(a); CREATE TABLE ATRANSACTION(a); INSERT INTO ACHANGE VALUES (1)")
        let other = try Seen(
            try await SourceStore(at: plain).compactCopy(in: temporary, profile { $0.leavesOutHistory = true }))
        #expect(try other.content == StoreContent(of: plain))
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `rows are left out without a trigger or a foreign key being asked`(journalMode: String) async throws {
        try TestStore.make(
            at: path,
            sql: """
                PRAGMA journal_mode = \(journalMode); PRAGMA auto_vacuum = FULL;
                CREATE TABLE "my Drafts"(id INTEGER PRIMARY KEY AUTOINCREMENT, a);
                CREATE TABLE page(draft REFERENCES "my Drafts"(id) ON DELETE CASCADE, a);
                CREATE TABLE log(a);
                CREATE TRIGGER t AFTER DELETE ON "my Drafts" BEGIN INSERT INTO log VALUES (old.id); END;
                CREATE INDEX i ON "my Drafts"(a);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO "my Drafts"(a) SELECT randomblob(500) FROM n;
                INSERT INTO page VALUES (1, 'x'), (2, 'y');
                """)
        let whole = try await copy()
        let emptied = profile { $0.emptiedTables = ["MY DRAFTS", "my Drafts"] }
        let copy = try await copy(emptied)
        #expect(try await self.copy(emptied).facts == copy.facts)
        let source = try StoreContent(of: path)
        #expect(copy.content.tables["my Drafts"] == [])
        for table in ["sqlite_schema", "page", "log", "sqlite_sequence"] {
            #expect(copy.content.tables[table] == source.tables[table], "\(table)")
        }
        #expect(copy.omissions == Omissions(history: false, tables: ["my Drafts"], externalFiles: []))
        #expect(copy.facts.schemaSHA256 == whole.facts.schemaSHA256)
        #expect(copy.facts.size < whole.facts.size / 4)
    }

    @Test(arguments: [
        ("v", TableObstacle.isView), ("f", .isVirtual), ("f_content", .isPartOfVirtual), ("r_node", .isPartOfVirtual),
        ("sqlite_sequence", .sqliteNeedsIt), ("Z_METADATA", .coreDataNeedsIt), ("Z_PRIMARYKEY", .coreDataNeedsIt),
        ("Z_MODELCACHE", .coreDataNeedsIt), ("ACHANGE", .isHistory), ("ATRANSACTIONSTRING", .isHistory),
    ])
    func `a table that must stay is named with the reason`(table: String, obstacle: TableObstacle) async throws {
        try CoreDataSample(at: path).addHistory(transactions: 1)
        try TestStore.make(
            at: path,
            sql: """
                CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts4(a); CREATE VIRTUAL TABLE r USING rtree(i, a, b);
                CREATE TABLE s(a INTEGER PRIMARY KEY AUTOINCREMENT);
                """)
        await #expect(throws: SnapshotError.tableMustStay(ForeignText(table), because: obstacle)) {
            try await copy(profile { $0.emptiedTables = ["ZRECIPE", table.lowercased()] })
        }
        #expect(try Folder.names(in: temporary) == [])
    }

    @Test(arguments: [
        "CREATE VIRTUAL TABLE f USING fts5(body, content='draft')",
        "CREATE VIRTUAL TABLE f USING fts5(body, content = \"draft\", content_rowid=rowid)",
        "CREATE VIRTUAL TABLE f USING fts4(content=draft, body)",
        "CREATE VIEW w AS SELECT rowid, body FROM draft; CREATE VIRTUAL TABLE f USING fts5(body, content=w)",
    ])
    func `what is left out is left out of the full-text indexes of it`(sql: String) async throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE draft(body); CREATE TABLE kept(body); \(sql);
                CREATE VIRTUAL TABLE g USING fts5(body, content='kept');
                CREATE TRIGGER t AFTER INSERT ON draft BEGIN INSERT INTO f(rowid, body) VALUES (new.rowid, new.body); END;
                INSERT INTO draft VALUES ('secret words'); INSERT INTO kept VALUES ('plain words');
                INSERT INTO g(g) VALUES ('rebuild');
                """)
        let copy = try await SourceStore(at: path).compactCopy(in: temporary, profile { $0.emptiedTables = ["DRAFT"] })
        let queue = try TestStore.open(copy.path)
        let found = try await queue.read { database in
            try ["SELECT count(*) FROM f WHERE f MATCH 'secret'", "SELECT count(*) FROM g WHERE g MATCH 'plain'"].map {
                try Int.fetchOne(database, sql: $0)
            }
        }
        try queue.close()
        #expect(found == [0, 1])
        let bytes = try Data(contentsOf: URL(fileURLWithPath: copy.path.string))
        #expect(bytes.range(of: Data("secret".utf8)) == nil)
    }

    @Test(arguments: [
        ("draft", TableObstacle.feedsVirtual), ("v_chunks", .isPartOfVirtual), ("V_info", .isPartOfVirtual),
        ("vault", nil),
        ("v", .isVirtual),
    ])
    func `what a module keeps is not left out behind its back`(table: String, obstacle: TableObstacle?) async throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE draft(x); CREATE TABLE vault(x); CREATE TABLE v_chunks(x); CREATE TABLE V_info(x);
                CREATE VIRTUAL TABLE box USING rtree(id, low, high);
                CREATE TRIGGER t AFTER INSERT ON draft BEGIN INSERT INTO "box" VALUES (new.x, 1, 2); END;
                CREATE TRIGGER u AFTER INSERT ON vault BEGIN DELETE FROM draft WHERE x = 'boxes'; END;
                PRAGMA writable_schema = ON;
                INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING vec0(e float[4])');
                """)
        let store = try SourceStore(at: path)
        let wanted = profile { $0.emptiedTables = [table] }
        guard let obstacle else {
            _ = try await store.compactCopy(in: temporary, wanted)
            return
        }
        await #expect(throws: SnapshotError.tableMustStay(ForeignText(table), because: obstacle)) {
            _ = try await store.compactCopy(in: temporary, wanted)
        }
    }

    /// An app may write the boxes itself, without triggers.
    @Test(arguments: [
        ("INSERT INTO box VALUES (1, 1, 2), (3, 1, 2)", true), ("INSERT INTO box VALUES (1, 1, 2), (9, 1, 2)", false),
        ("SELECT 1", false),
        (
            """
            INSERT INTO box VALUES (1, 1, 2);
            CREATE TRIGGER t AFTER INSERT ON other BEGIN INSERT INTO box VALUES (new.a, 1, 2); END
            """, false
        ),
    ])
    func `boxes that may be of rows that are left out are not shipped`(sql: String, isRefused: Bool) async throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE place(id INTEGER PRIMARY KEY, secret); INSERT INTO place VALUES (1, 'a'), (2, 'b'), (3, 'c');
                CREATE TABLE other(a PRIMARY KEY) WITHOUT ROWID; CREATE VIRTUAL TABLE box USING rtree(id, low, high);
                \(sql)
                """)
        let store = try SourceStore(at: path)
        if !sql.contains("TRIGGER") {
            _ = try await store.compactCopy(in: temporary, profile { $0.emptiedTables = ["other"] })
        }
        guard isRefused else {
            _ = try await store.compactCopy(in: temporary, profile { $0.emptiedTables = ["place"] })
            return
        }
        await #expect(throws: SnapshotError.tableMustStay("place", because: .feedsVirtual)) {
            _ = try await store.compactCopy(in: temporary, profile { $0.emptiedTables = ["place"] })
        }
    }

    @Test(arguments: [
        ("Recipe", ["ZRECIPE"]), ("ZPHOTOS", ["ZPHOTO"]), ("something else", []), ("Z_METADAT", []), ("", []),
    ])
    func `a table that is not there is an error, with those that may have been meant`(
        name: String, near: [String]
    ) async throws {
        _ = try CoreDataSample(at: path)
        await #expect(throws: SnapshotError.noSuchTable(ForeignText(name), near: near.map { ForeignText($0) })) {
            try await copy(profile { $0.emptiedTables = [name] })
        }
    }

    @Test func `long external files are left out, with their sizes`() async throws {
        let sample = try CoreDataSample(at: path)
        let short = try sample.addPhoto(key: 1, content: Data(count: 1000))
        let long = try sample.addPhoto(key: 2, content: Data(count: 1001))
        let backed = try sample.addPhoto(key: 3, content: Data(count: 50_000), tag: 3)
        try sample.add(key: 4, cell: Data([1]) + Data(count: 5000))
        try sample.add(key: 5, cell: Data([2]) + Data(count: 5000))
        let copy = try await copy(profile { $0.longestExternalFile = 1000 })
        #expect(copy.externalFiles.map(\.name.uuid) == [short])
        #expect(
            copy.omissions?.externalFiles.map { "\($0.name.uuid) \($0.size)" } == ["\(long) 1001", "\(backed) 50000"])
        #expect(copy.missing == [])
        #expect(try copy.content == StoreContent(of: path))
        #expect(copy.files == ["copy.sqlite", "external-0"])
        // What is gone is missing, however long it was.
        try FileManager.default.removeItem(atPath: sample.file("_EXTERNAL_DATA", long).string)
        await #expect(throws: SnapshotError.self) { try await self.copy(profile { $0.longestExternalFile = 10 }) }
    }

    @Test func `the files of rows that are left out are not missed`() async throws {
        let sample = try CoreDataSample(at: path)
        try sample.addPhoto(key: 1, content: nil)
        let copy = try await copy(profile { $0.emptiedTables = ["zphoto"] })
        #expect(copy.externalFiles == [] && copy.missing == [])
        #expect(copy.omissions == Omissions(history: false, tables: ["ZPHOTO"], externalFiles: []))
    }
}
