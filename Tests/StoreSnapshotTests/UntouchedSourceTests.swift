import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@Suite struct UntouchedSourceTests {
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

    /// Takes a copy, and compares the folder of the store before and after.
    ///
    /// - Returns: The content of the copy.
    private func copyUntouched(
        _ profile: CopyProfile = CopyProfile(), ignoring ignored: Set<String> = []
    ) async throws -> StoreContent {
        let before = try FolderListing(of: home, ignoringContentOf: ignored)
        let content = try await {
            let copy = try await SourceStore(at: path).compactCopy(in: temporary, profile)
            return try StoreContent(of: copy.path)
        }()
        #expect(try FolderListing(of: home, ignoringContentOf: ignored) == before)
        #expect(try Folder.names(in: temporary) == [])
        return content
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"])
    func `a store that nobody has open stays as it is`(journalMode: String) async throws {
        try SampleStore.plain.make(at: path, journalMode: journalMode)
        let content = try await copyUntouched()
        #expect(try content == StoreContent(of: path))
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"])
    func `a store that an app has open stays as it is`(journalMode: String) async throws {
        try SampleStore.plain.make(at: path, journalMode: journalMode)
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = \(journalMode); DELETE FROM t WHERE id = 7")
        }
        let content = try await copyUntouched(ignoring: ["store.sqlite-shm"])
        #expect(try await app.read { try StoreContent($0) } == content)
        // The app goes on as before.
        try await app.write { try $0.execute(sql: "DELETE FROM t WHERE id = 8") }
        try app.close()
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"])
    func `a store of which rows are left out stays as it is`(journalMode: String) async throws {
        try SampleStore.plain.make(at: path, journalMode: journalMode)
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = \(journalMode); DELETE FROM t WHERE id = 7")
        }
        let before = try await app.read { try StoreContent($0) }
        var profile = CopyProfile()
        profile.emptiedTables = ["t"]
        #expect(try await copyUntouched(profile, ignoring: ["store.sqlite-shm"]).tables["t"] == [])
        #expect(try await app.read { try StoreContent($0) } == before)
        try await app.write { try $0.execute(sql: "DELETE FROM t WHERE id = 8") }
        try app.close()
        _ = try await copyUntouched(profile)
    }

    @Test func `a store with a log that nobody has open stays as it is`() async throws {
        let (live, content) = try await storeWithLog()
        try copyAway(live, suffixes: ["", "-wal"])
        #expect(try await copyUntouched() == content)
        #expect(try Folder.names(in: home) == ["store.sqlite", "store.sqlite-wal"])
    }

    @Test func `a store that a crash has left with a log and its index stays as it is`() async throws {
        let (live, content) = try await storeWithLog()
        try copyAway(live, suffixes: ["", "-wal", "-shm"])
        // The index is SQLite's to rebuild: it is not data.
        let before = try FolderListing(of: home).entries.filter { $0.name != "store.sqlite-shm" }
        let copy = try await SourceStore(at: path).compactCopy(in: temporary)
        #expect(try StoreContent(of: copy.path) == content)
        #expect(try FolderListing(of: home).entries.filter { $0.name != "store.sqlite-shm" } == before)
        #expect(try Folder.names(in: home) == ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"])
    }

    @Test func `an app that opens the store meanwhile keeps its log`() async throws {
        try SampleStore.plain.make(at: path, journalMode: "WAL")
        // It comes after the look at what is there, and stays: what the copy would tidy away is the app's by now.
        let app = try TestStore.open(path)
        let sidecars = ["store.sqlite", "store.sqlite-shm", "store.sqlite-wal"]
        try await app.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        #expect(try Folder.names(in: home) == sidecars)
        let other = try await SourceStore(at: path).compactCopy(in: temporary)
        #expect(try Folder.names(in: home) == sidecars)
        try await app.write { try $0.execute(sql: "DELETE FROM t") }
        #expect(try StoreContent(of: path).tables["t"] == [])
        #expect(try StoreContent(of: other.path).tables["t"] != [])
        try app.close()
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `the app's own locks hold when the producer lives in the app's process`(journalMode: String) async throws {
        try SampleStore.plain.make(at: path, journalMode: journalMode)
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE; DELETE FROM t WHERE id = 1") }
        _ = try await SourceStore(at: path).compactCopy(in: temporary)
        await #expect(processExitsWith: .success) { [path = path.string as String] in
            let other = try TestStore.open(FilePath(path))
            #expect(throws: DatabaseError.self) {
                try other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            }
        }
        try await app.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try app.close()
    }

    @Test func `after an error too nothing is left`() async throws {
        try TestStore.make(
            at: path, sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (NULL);")
        try TestStore.make(
            at: path,
            sql: "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE t(a NOT NULL)'")
        let before = try FolderListing(of: home)
        await #expect(throws: SnapshotError.corrupt(path, complaints: ["NULL value in t.a"])) {
            _ = try await SourceStore(at: path).compactCopy(in: temporary)
        }
        #expect(try FolderListing(of: home) == before)
        #expect(try Folder.names(in: temporary) == [])
    }

    /// A store with rows in its log, in a folder of its own, and the connection that keeps it so.
    private func storeWithLog() async throws -> (live: FilePath, content: StoreContent) {
        let live = try scratch.folder("live").appending("store.sqlite")
        try SampleStore.plain.make(at: live, journalMode: "WAL")
        let app = try TestStore.open(live, preparation: "PRAGMA wal_autocheckpoint = 0")
        try await app.write { try $0.execute(sql: "DELETE FROM t WHERE id % 2 = 0") }
        let content = try await app.read { try StoreContent($0) }
        try copyAway(live, suffixes: ["", "-wal", "-shm"], to: scratch.path.appending("crashed.sqlite"))
        return (scratch.path.appending("crashed.sqlite"), content)
    }

    private func copyAway(_ live: FilePath, suffixes: [String], to target: FilePath? = nil) throws {
        for suffix in suffixes {
            try FileManager.default.copyItem(
                atPath: live.string + suffix, toPath: (target ?? path).string + suffix)
        }
    }
}
