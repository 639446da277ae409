import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Stores as people have them: with other names, with headers that other programs wrote, encrypted, damaged where nobody looks.
@Suite struct StoresAsTheyAreTests {
    private let desk: Desk
    private var store: FilePath { desk["s.db"] }

    init() throws { desk = try Desk() }

    private func status(_ arguments: String...) async throws -> Int32? {
        let outcome = try await desk.run(arguments)
        guard case .exited(let status) = outcome.status else { return nil }
        return status
    }

    /// Runs statements on the store, which is made if it is not there; nobody has it open afterwards.
    private func execute(_ sql: String, preparation: String = "") throws {
        try TestStore.make(at: store, preparation: preparation, sql: sql)
    }

    /// Writes bytes over those of the store.
    private func write(_ bytes: [UInt8], at offset: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: store.string))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: bytes)
        try file.close()
    }

    /// The page on which a table or an index begins.
    private func root(of name: String) throws -> Int {
        let queue = try TestStore.open(store)
        defer { try? queue.close() }
        return try queue.read { database in
            try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [name]) ?? 0
        }
    }

    private func count(in name: String, of table: String = "t") throws -> Int? {
        let queue = try TestStore.open(desk[name])
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table)") }
    }

    /// A store whose app has it open, with rows that are in the log alone.
    private func openStore() throws -> DatabaseQueue {
        let queue = try TestStore.open(store, preparation: "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2), (3)")
        }
        return queue
    }

    // MARK: Names

    @Test func `a name beside which the log is not is refused, and one beside which it is is none`() async throws {
        let queue = try openStore()
        defer { try? queue.close() }
        try Folder.make(desk["other"])
        try PlatformCalls.hardLink(store, as: desk["other/alias.db"])
        for command in [
            ["copy", "other/alias.db", "--to", "c"], ["copy", "other/alias.db", "--keep-in", "k"],
            ["send", "other/alias.db", "--to", "./x.shipment"], ["inspect", "other/alias.db"],
            ["verify", "other/alias.db"],
            ["metadata", "other/alias.db", "--set", "a=b"], ["move", "other/alias.db", "--to", "m"],
        ] {
            let outcome = try await desk.run(command)
            #expect(outcome.status != .exited(0), "\(command)")
            #expect(outcome.stderr.contains("name"), "\(command): \(outcome.stderr)")
        }
        try await desk.run("copy", "s.db", "--to", "c", "--as", "c.db").expectSuccess()
        #expect(try count(in: "c/c.db") == 3)
        #expect(try count(in: "s.db") == 3)
        try await desk.run("copy", "other/alias.db", "--to", "c", "--as", "d.db", "--linked").expectSuccess()
    }

    // MARK: Headers

    /// The text encoding, of which SQLite looks at two bits, and the write version, above 2 of which it only reads.
    @Test(arguments: [(59, UInt8(5)), (59, 129), (18, 3), (18, 255)])
    func `what SQLite reads is shipped, though it would not write it`(offset: Int, value: UInt8) async throws {
        try TestStore.make(at: store, sql: "CREATE TABLE t(a); INSERT INTO t VALUES ('x'), ('y')")
        try write([value], at: offset)
        try await desk.run("send", "s.db", "--to", "./x.shipment").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./x.shipment").expectSuccess()
        #expect(try count(in: "inbox/s.sqlite") == 2)
        try await desk.run("copy", "s.db", "--to", "c", "--as", "c.db").expectSuccess()
        #expect(try count(in: "c/c.db") == 2)
    }

    /// A schema format that is not known yet, which an encrypted store with a header in plain text has as well.
    @Test func `what SQLite does not read is bad data, and the way back is open`() async throws {
        try TestStore.make(at: store, sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let kept = try await desk.run("copy", "s.db", "--keep-in", "kept")
        let copy = try #require(kept.lines.first)
        try write([5], at: 47)
        for command in [["verify", "s.db"], ["metadata", "s.db"], ["send", "s.db", "--to", "./x.shipment"]] {
            #expect(try await desk.run(command).status == .exited(65), "\(command)")
        }
        #expect(try await status("restore", copy, "--over", "s.db") == 0)
        #expect(try count(in: "s.db") == 1)
    }

    @Test(arguments: [true, false])
    func `an encrypted store is told as one, and not touched`(hasHeader: Bool) async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        var bytes = (0..<40_960).map { _ in UInt8.random(in: 0...255, using: &random) }
        // As SQLCipher keeps them where the system has to see that it is a database.
        if hasHeader {
            bytes.replaceSubrange(0..<24, with: Array("SQLite format 3\0".utf8) + [16, 0, 2, 2, 80, 64, 32, 32])
        }
        try Data(bytes).write(to: URL(filePath: store.string))
        for command in [
            ["copy", "s.db", "--to", "c"], ["send", "s.db", "--to", "./x.shipment"], ["inspect", "s.db"],
            ["verify", "s.db"],
            ["metadata", "s.db"], ["move", "s.db", "--to", "m"],
        ] {
            let outcome = try await desk.run(command)
            #expect(outcome.status == .exited(65), "\(command): \(outcome.stderr), seed \(seed)")
        }
        #expect([UInt8](try Data(contentsOf: URL(filePath: store.string))) == bytes)
    }

    // MARK: Schemas

    @Test func `a schema that SQLite reads and would not write again is bad data, or goes`() async throws {
        try execute(
            """
            CREATE TABLE t(a, c DEFAULT 1); INSERT INTO t VALUES (1, 2);
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = 'CREATE TABLE t(a, c DEFAULT (?1))';
            """)
        #expect([0, 65].contains(try await status("send", "s.db", "--to", "./x.shipment")))
    }

    @Test func `what may belong to a module that is not there is not left out`() async throws {
        try execute(
            """
            CREATE TABLE v_chunks(id INTEGER PRIMARY KEY, b); INSERT INTO v_chunks VALUES (1, x'00');
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING vec0(e float[4])');
            """)
        #expect(try await status("send", "s.db", "--to", "./x.shipment", "--exclude", "v_chunks") == 64)
    }

    // MARK: Damage

    @Test func `an erased page is damage, and no full disk`() async throws {
        try execute(
            """
            CREATE TABLE t(a, b);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
            INSERT INTO t SELECT i, zeroblob(300000) FROM n;
            """, preparation: "PRAGMA page_size = 1024")
        let copy = try #require(try await desk.run("copy", "s.db", "--keep-in", "kept").lines.first)
        let size = Int(try PlatformCalls.status(of: store).size)
        try write(Array(repeating: 0xFF, count: 1024), at: size / 2048 * 1024)
        let verified = try await desk.run("verify", "s.db")
        #expect(verified.status == .exited(65) && !verified.stderr.contains("free some space"), "\(verified.stderr)")
        #expect(try await status("send", "s.db", "--to", "./x.shipment") == 65)
        #expect(try await status("restore", copy, "--over", "s.db") == 0)
        #expect(try count(in: "s.db") == 20)
    }

    /// The list of free pages names one that is in use, its length is wrong, a pointer map is erased.
    @Test(arguments: ["in use", "length", "pointers"])
    func `damage that a copy does not have is told of its store`(kind: String) async throws {
        try execute(
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t SELECT i, 'item number ' || i FROM n;
            DELETE FROM t WHERE id > 1500;
            """, preparation: "PRAGMA page_size = 1024; PRAGMA auto_vacuum = \(kind == "pointers" ? "FULL" : "NONE")")
        #expect(try await status("verify", "s.db") == 0)
        let root = try root(of: "t")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: store.string)))
        switch kind {
        case "in use":
            let trunk = bytes[32..<36].reduce(0) { $0 << 8 | Int($1) }
            try write([0, 0, UInt8(root >> 8), UInt8(root & 0xff)], at: (trunk - 1) * 1024 + 8)
        case "length": try write([0, 0, 0, 1], at: 36)
        default: try write(Array(repeating: 0xFF, count: 100), at: 1024)
        }
        #expect(try await status("verify", "s.db") == 65)
    }

    @Test func `a copy that nobody would take is refused where it is made`() async throws {
        try TestStore.make(
            at: store,
            sql: """
                CREATE TABLE t(id INTEGER PRIMARY KEY, a); CREATE INDEX i ON t(a);
                WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 50)
                INSERT INTO t SELECT x, 'item ' || x FROM n;
                """)
        // A leaf without entries.
        try write([0x0A, 0, 0, 0, 0, 16, 0, 0] + Array(repeating: 0, count: 4088), at: (try root(of: "i") - 1) * 4096)
        for command in [
            ["verify", "s.db"], ["copy", "s.db", "--keep-in", "kept"], ["copy", "s.db", "--to", "c"],
            ["send", "s.db", "--to", "./x.shipment"],
        ] {
            let outcome = try await desk.run(command)
            #expect(outcome.status == .exited(65), "\(command): \(outcome.stderr)")
        }
        #expect((try? PlatformCalls.status(of: desk["x.shipment"])) == nil)
        try execute(
            "REINDEX")
        try await desk.run("copy", "s.db", "--keep-in", "kept").expectSuccess()
    }
}
