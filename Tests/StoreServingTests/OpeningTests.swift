import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreServing
import SystemPackage
import TestSupport
import Testing

@Suite struct OpeningTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func makeStore(at path: FilePath, rows: Int) throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) INSERT INTO t SELECT i FROM n;
                """)
    }

    private func rows(of store: StoreCoordinator) async throws -> Int? {
        try await store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    private func open(_ path: FilePath) throws -> StoreCoordinator { try StoreCoordinator(files: [.settled(path)]) }

    @Test(arguments: [
        "a b", "100%", "%41", "what?mode=rwc", "a#b", "it's", "\"q\"", "Zürich 東京 🚢", "-dash", "new\nline", "a&b=c;d",
        "a:b",
        "back\\slash", "tab\t", "[x]{y}|~^`",
    ])
    func `whatever a path has in it is only a path`(name: String) async throws {
        let path = try scratch.folder(name).appending("\(name).sqlite")
        try makeStore(at: path, rows: 3)
        #expect(try await rows(of: try open(path)) == 3)
        #expect(try Folder.names(in: path.removingLastComponent()) == ["\(name).sqlite"])
        let nowhere = try open(scratch.path.appending("\(name) nowhere"))
        await #expect(throws: CoordinatorError.self) { try await rows(of: nowhere) }
    }

    @Test(arguments: ["-wal", "-journal", "-shm"])
    func `what is planted beside a store is never read`(suffix: String) async throws {
        let path = scratch.path.appending("store.sqlite")
        try makeStore(at: path, rows: 3)
        // Another store's: as a reader would find it whose file was renamed in.
        let other = scratch.path.appending("other.sqlite")
        try makeStore(at: other, rows: 9)
        let app = try TestStore.open(other)
        try await app.writeWithoutTransaction { database in
            try database.execute(
                sql: "PRAGMA journal_mode = \(suffix == "-journal" ? "PERSIST" : "WAL"); DELETE FROM t")
            let planted = FileManager.default.contents(atPath: other.string + suffix)
            try #require(planted).write(to: URL(fileURLWithPath: path.string + suffix))
        }
        try app.close()
        if suffix == "-journal" {
            // The header that PERSIST has wiped: this one is hot.
            var journal = try Data(contentsOf: URL(fileURLWithPath: path.string + suffix))
            journal.replaceSubrange(0..<8, with: [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
            try journal.write(to: URL(fileURLWithPath: path.string + suffix))
        }
        let before = try FolderListing(of: scratch.path)
        if suffix != "-shm" {
            let sidecar = FilePath(path.string + suffix)
            await #expect(throws: CoordinatorError.hasSidecar(path, sidecar)) {
                try await rows(of: try open(path))
            }
        }
        try StoreCheck().run(on: path, against: StoreClaims(store: try factsOfCopy(path)))
        #expect(try FolderListing(of: scratch.path) == before)
    }

    /// Taken from a copy that has nothing beside it.
    private func factsOfCopy(_ path: FilePath) throws -> StoreFacts {
        let folder = try ScratchFolder()
        let copy = folder.path.appending("copy.sqlite")
        try FileManager.default.copyItem(atPath: path.string, toPath: copy.string)
        return try SampleFacts.of(copy)
    }

    @Test func `a schema may call JSON functions`() async throws {
        let path = scratch.path.appending("store.sqlite")
        let sql = "CREATE TABLE t(a, b AS (json_extract(a, '$.b'))); CREATE INDEX i ON t(b)"
        try TestStore.make(at: path, sql: sql + #"; INSERT INTO t(a) VALUES ('{"b": 3}')"#)
        #expect(try await open(path).read { try Int.fetchOne($0, sql: "SELECT b FROM t WHERE b > 2") } == 3)
    }

    @Test func `no schema calls a function of its reader`() async throws {
        let path = scratch.path.appending("store.sqlite")
        try TestStore.make(
            at: path, sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT own(a) FROM t")
        var options = StoreCoordinator.Options()
        options.prepareDatabase = { $0.add(function: DatabaseFunction("own", argumentCount: 1) { $0[0] }) }
        let store = try StoreCoordinator(files: [.settled(path)], options: options)
        #expect(try await store.read { try Int.fetchOne($0, sql: "SELECT own(a) FROM t") } == 1)
        await #expect(throws: (any Error).self) {
            try await store.read { try Int.fetchOne($0, sql: "SELECT * FROM v") }
        }
    }

    @Test func `nothing can be written, attached or loaded`() async throws {
        let path = scratch.path.appending("store.sqlite")
        try makeStore(at: path, rows: 3)
        let store = try open(path)
        for sql in [
            "DELETE FROM t", "CREATE TABLE u(a)", "ATTACH 'other.sqlite' AS other", "SELECT load_extension('x')",
            "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema", "VACUUM",
            "PRAGMA journal_mode = WAL; DELETE FROM t",
        ] {
            await #expect(throws: (any Error).self, "\(sql)") {
                try await store.read { try $0.execute(sql: sql) }
            }
        }
        #expect(try await rows(of: store) == 3)
        #expect(try Folder.names(in: scratch.path) == ["store.sqlite"])
    }
}
