import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreServing
import SystemPackage
import TestSupport
import Testing

@Suite struct StoreCheckTests {
    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
    }

    private func flaw(against facts: StoreFacts, deadline: Duration = .seconds(60)) -> StoreCheck.Flaw? {
        do throws(StoreCheck.Flaw) {
            try StoreCheck(limits: CheckLimits(time: deadline)).run(on: path, against: StoreClaims(store: facts))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: SampleStore.allCases)
    func `a sound store passes, and nothing appears beside it`(sample: SampleStore) throws {
        try sample.make(at: path)
        let facts = try SampleFacts.of(path)
        let before = try FolderListing(of: scratch.path)
        #expect(flaw(against: facts) == nil)
        #expect(try FolderListing(of: scratch.path) == before)
    }

    /// SQLite 3.40.1's `quick_check` has complaints of it.
    @Test(arguments: [0, 8 * 1024 * 1024])
    func `a key in another order than the columns is no damage, however large the store`(fullCheckSize: Int64) throws {
        try TestStore.make(
            at: path,
            sql: "CREATE TABLE t(a, b, PRIMARY KEY(b, a)) WITHOUT ROWID; INSERT INTO t VALUES (1, 2), ('x', x'00')")
        let claims = StoreClaims(store: try SampleFacts.of(path))
        let limits = CheckLimits(fullCheckSize: fullCheckSize)
        #expect(try StoreCheck(limits: limits).run(on: path, against: claims).foreignKeys == .sound)
    }

    @Test func `each fact that is not as the manifest says is named`() throws {
        try SampleStore.numbersInHeader.make(at: path)
        let facts = try SampleFacts.of(path)
        #expect(flaw(against: facts) == nil)
        let other = ContentDigest(hashing: [1])
        for (wrong, member) in [
            (SampleFacts.changed(facts, pageSize: 512), "pageSize"),
            (SampleFacts.changed(facts, pageCount: facts.pageCount + 1), "pageCount"),
            (SampleFacts.changed(facts, textEncoding: .utf16LittleEndian), "textEncoding"),
            (SampleFacts.changed(facts, applicationID: 1), "applicationID"),
            (SampleFacts.changed(facts, userVersion: 0), "userVersion"),
            (SampleFacts.changed(facts, schema: other), "schemaSHA256"),
        ] {
            #expect(flaw(against: wrong) == .contradictsManifest(ForeignText(member)))
        }
        #expect(flaw(against: SampleFacts.changed(facts, size: facts.size + 1)) == .contradictsManifest("size"))
    }

    /// SQLite takes these bytes for a CREATE, and for no text all the same.
    @Test func `a schema whose words are no text is refused`() throws {
        try TestStore.make(at: path, sql: "CREATE TABLE t(a UNIQUE)")
        let facts = try SampleFacts.of(path)
        try TestStore.make(
            at: path,
            sql: """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET type = x'ff' WHERE type = 'index';
                UPDATE sqlite_schema SET sql = CAST(sql || ' -- ' || x'ff' AS BLOB) WHERE type = 'table';
                """)
        #expect(flaw(against: facts) == .contradictsManifest("schemaSHA256"))
    }

    @Test func `a store in WAL mode is refused by its header`() throws {
        try SampleStore.plain.make(at: path, journalMode: "WAL")
        #expect(flaw(against: try SampleFacts.of(path)) == .header)
    }

    @Test(arguments: [0, 15, 16, 18, 19])
    func `a header that is none is refused before SQLite sees it`(offset: Int) throws {
        try SampleStore.plain.make(at: path)
        let facts = try SampleFacts.of(path)
        try change(at: offset) { $0 ^ 0x77 }
        let flaw = flaw(against: facts)
        #expect(flaw == .header || flaw == .contradictsManifest("pageSize"), "\(String(describing: flaw))")
    }

    @Test func `damage that SQLite notices is told in its words, and none of it traps`() throws {
        try SampleStore.plain.make(at: path)
        let facts = try SampleFacts.of(path)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path.string))
        var generator = SystemRandomNumberGenerator()
        var noticed = 0
        for _ in 0..<200 {
            var bytes = whole
            let offset = Int.random(in: 100..<bytes.count, using: &generator)
            // Pages full of 0xff cannot pass.
            let end = min(bytes.count, offset + 4096)
            bytes.replaceSubrange(offset..<end, with: repeatElement(0xff, count: end - offset))
            try bytes.write(to: URL(fileURLWithPath: path.string))
            if flaw(against: facts) != nil { noticed += 1 }
        }
        #expect(noticed > 150)
    }

    private func change(at offset: Int, _ body: (UInt8) -> UInt8) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path.string))
        bytes[offset] = body(bytes[offset])
        try bytes.write(to: URL(fileURLWithPath: path.string))
    }

    @Test func `a store that is cut is refused`() throws {
        try SampleStore.plain.make(at: path)
        let facts = try SampleFacts.of(path)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path.string))
        for size in [0, 1, 99, 100, 4096, whole.count - 4096, whole.count - 1] {
            try whole.prefix(size).write(to: URL(fileURLWithPath: path.string))
            #expect(flaw(against: facts) != nil, "\(size) bytes against the manifest")
            // A manifest says whole pages.
            guard size % 4096 == 0 else { continue }
            #expect(flaw(against: SampleFacts.changed(facts, size: Int64(size))) != nil, "\(size) bytes")
        }
    }

    /// SQLite 3.40.1 takes its own JSON functions for ones that no schema from elsewhere may call.
    @Test func `a store whose schema calls JSON functions is sound`() throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a CHECK (json_valid(a)), b AS (json_extract(a, '$.b')), c AS (json_extract(a, '$.c')) STORED);
                CREATE INDEX i ON t(json_array_length(a)) WHERE json_valid(a);
                INSERT INTO t VALUES ('{"b": 1, "c": 2}');
                """)
        #expect(flaw(against: try SampleFacts.of(path)) == nil)
    }

    @Test(arguments: [
        "/*\(String(repeating: "long ", count: 300_000))*/", "CHECK (\(String(repeating: "a + ", count: 900)) a > 0)",
    ])
    func `a statement of the schema may be as long and as deep as SQLite takes it`(rest: String) throws {
        try TestStore.make(at: path, sql: "CREATE TABLE t(a \(rest)); INSERT INTO t VALUES (1)")
        #expect(flaw(against: try SampleFacts.of(path)) == nil)
    }

    @Test func `an index may take twice what is in the file to make`() throws {
        try TestStore.make(
            at: path,
            sql:
                "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(1000000)); CREATE INDEX i ON t(substr(hex(a), 1, 8))"
        )
        #expect(flaw(against: try SampleFacts.of(path)) == nil)
    }

    @Test func `views and triggers are not run`() throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a); INSERT INTO t VALUES (1);
                CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n;
                CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT * FROM endless; END;
                """)
        let facts = try SampleFacts.of(path)
        let start = ContinuousClock.now
        #expect(flaw(against: facts) == nil)
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `constraints that take long are not evaluated`() throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a INT, CHECK (length(hex(zeroblob(300000 + a))) > 0));
                PRAGMA ignore_check_constraints = ON;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO t SELECT i FROM n;
                """)
        #expect(flaw(against: try SampleFacts.of(path), deadline: .seconds(20)) == nil)
    }

    @Test func `a check that takes too long is ended`() throws {
        // A generated column that may not be NULL is computed for each row.
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a INT, b AS (hex(zeroblob(20000 + a))) NOT NULL);
                PRAGMA ignore_check_constraints = ON;
                """)
        let queue = try TestStore.open(path)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                    INSERT INTO t(a) SELECT i FROM n
                    """)
        }
        try queue.close()
        let facts = try SampleFacts.of(path)
        let deadline = Duration.milliseconds(1)
        let start = ContinuousClock.now
        #expect(flaw(against: facts, deadline: deadline) == .tookTooLong(deadline))
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `a file that is none, and a link, are refused`() throws {
        try SampleStore.plain.make(at: path)
        let facts = try SampleFacts.of(path)
        let link = scratch.path.appending("link.sqlite")
        try PlatformCalls.symbolicLink(at: link, to: path)
        for path in [link, scratch.path, scratch.path.appending("nowhere")] {
            #expect(throws: StoreCheck.Flaw.self) { try StoreCheck().run(on: path, against: StoreClaims(store: facts)) }
        }
    }
}
