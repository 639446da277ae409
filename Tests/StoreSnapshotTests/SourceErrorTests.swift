import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@Suite struct SourceErrorTests {
    private let scratch: ScratchFolder
    private let temporary: FilePath
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        temporary = try scratch.folder("temporary")
        path = scratch.path.appending("store.sqlite")
    }

    private func expect(
        _ error: SnapshotError, timeout: Duration = SourceStore.defaultBusyTimeout,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        await #expect(throws: error, sourceLocation: location) {
            _ = try await SourceStore(at: path, busyTimeout: timeout).compactCopy(in: temporary)
        }
        #expect(try Folder.names(in: temporary) == [], sourceLocation: location)
    }

    private func write(_ bytes: [UInt8], at offset: UInt64 = 0) throws {
        if offset == 0, !FileManager.default.fileExists(atPath: path.string) {
            try Data(bytes).write(to: URL(fileURLWithPath: path.string))
        } else {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path.string))
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(bytes))
            try file.close()
        }
    }

    @Test func `no such file`() async throws {
        try await expect(.noSuchFile(path))
        #expect(!FileManager.default.fileExists(atPath: path.string))
    }

    @Test func `a link that leads nowhere`() async throws {
        try PlatformCalls.symbolicLink(at: path, to: "nowhere")
        try await expect(.noSuchFile(path))
    }

    @Test func `a folder`() async throws {
        try PlatformCalls.makeFolder(path)
        try await expect(.folder(path))
    }

    @Test func `a file stands for a folder on the way`() async throws {
        try write(Array("text".utf8))
        #expect(throws: SnapshotError.noSuchFile(path.appending("a"))) { try SourceStore(at: path.appending("a")) }
    }

    @Test func `a device`() async throws {
        #expect(throws: SnapshotError.notARegularFile("/dev/null")) { try SourceStore(at: "/dev/null") }
    }

    /// SQLite would open it, and wait.
    @Test(.timeLimit(.minutes(1))) func `a pipe in the place of the journal`() async throws {
        try TestStore.make(at: path, sql: "CREATE TABLE t(a)")
        let journal = FilePath(path.string + "-journal")
        try #require(mkfifo(journal.string, 0o600) == 0)
        try await expect(.notARegularFile(journal))
    }

    @Test(arguments: [1, 15, 99, 100, 5000])
    func `another kind of file, or an encrypted one`(size: Int) async throws {
        try write((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 7) })
        try await expect(.notADatabase(path))
    }

    @Test(arguments: [1, 16, 99])
    func `the header is cut off`(size: Int) async throws {
        try SampleStore.plain.make(at: path)
        #expect(truncate(path.string, size) == 0)
        try await expect(.truncated(path, size: Int64(size), expected: 100))
    }

    @Test(arguments: [1, 7, 4095, 4096, 4097, 50_000], ["DELETE", "WAL"])
    func `the end is cut off`(bytes: Int64, journalMode: String) async throws {
        try SampleStore.plain.make(at: path, journalMode: journalMode)
        let size = try PlatformCalls.status(of: path).size
        #expect(truncate(path.string, Int(size - bytes)) == 0)
        try await expect(.truncated(path, size: size - bytes, expected: size))
    }

    @Test func `pages are damaged`() async throws {
        try SampleStore.plain.make(at: path)
        try write([UInt8](repeating: 0xa5, count: 8192), at: 8192)
        await #expect { _ = try await SourceStore(at: path).compactCopy(in: temporary) } throws: { error in
            guard case .corrupt(path, let complaints) = error as? SnapshotError else { return false }
            return !complaints.isEmpty
        }
        #expect(try Folder.names(in: temporary) == [])
    }

    @Test func `an index that has lost rows`() async throws {
        try TestStore.make(
            at: path, sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2); CREATE INDEX i ON t(a) WHERE a > 0")
        let root = try await TestStore.open(path).read {
            try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = 'i'")
        }
        // A leaf without entries.
        try write([10, 0, 0, 0, 0, 16, 0, 0], at: UInt64(try #require(root) - 1) * 4096)
        await #expect { _ = try await SourceStore(at: path).compactCopy(in: temporary) } throws: { error in
            guard case .corrupt(path, let complaints) = error as? SnapshotError else { return false }
            return complaints.contains { $0.unescaped.contains("missing from index i") }
        }
    }

    @Test func `a schema format of a later version, or one that is encrypted`() async throws {
        try SampleStore.plain.make(at: path)
        try write([5], at: 47)
        try await expect(.unsupportedFormat(path))
    }

    /// The log is beside the name that the app uses.
    @Test func `another name of a store, beside which there is no log`() async throws {
        let name = scratch.path.appending("home.sqlite")
        let app = try TestStore.open(name, preparation: "PRAGMA journal_mode = WAL")
        try await app.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try PlatformCalls.hardLink(name, as: path)
        try await expect(.severalNames(path))
        func rows(_ store: SourceStore) async throws -> [String]? {
            let copy = try await store.compactCopy(in: temporary)
            return try StoreContent(of: copy.path).tables["t"]
        }
        #expect(try await rows(SourceStore(at: name)) == ["a=1"])
        try app.close()
        try await expect(.severalNames(path))
        #expect(try await rows(SourceStore(at: path, takesSeveralNames: true)) == ["a=1"])
    }

    /// An app that is killed in the middle of a transaction leaves pages of it in the store, and the journal that undoes them beside the
    /// name that it uses.
    @Test func `another name of a store, beside which there is no journal`() async throws {
        let name = scratch.path.appending("home.sqlite")
        let left = scratch.path.appending("left.sqlite")
        let app = try TestStore.open(name, preparation: "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 5")
        try await app.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    CREATE TABLE t(a);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                    INSERT INTO t SELECT printf('%0200d', i) FROM n;
                    BEGIN; UPDATE t SET a = 'x' || a;
                    """)
            try Data(contentsOf: URL(filePath: name.string)).write(to: URL(filePath: left.string))
            try Data(contentsOf: URL(filePath: name.string + "-journal"))
                .write(to: URL(filePath: left.string + "-journal"))
            try PlatformCalls.hardLink(left, as: path)
            try database.execute(sql: "ROLLBACK")
        }
        try app.close()
        func hasUncommitted(_ store: SourceStore) async throws -> Bool? {
            let copy = try await store.compactCopy(in: temporary)
            return try StoreContent(of: copy.path).tables["t"]?.contains { $0.contains("x") }
        }
        try await expect(.severalNames(path))
        #expect(try await hasUncommitted(SourceStore(at: path, takesSeveralNames: true)) == true)
        // The app comes back, and rolls back what it has not committed.
        let again = try TestStore.open(left)
        #expect(try await again.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 300)
        try again.close()
        try await expect(.severalNames(path))
        #expect(try await hasUncommitted(SourceStore(at: path, takesSeveralNames: true)) == false)
        try PlatformCalls.changeMode(of: path, to: .ownerRead)
        #expect(try await hasUncommitted(SourceStore(at: path)) == false)
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `locked by a long exclusive writer`(journalMode: String) async throws {
        try SampleStore.plain.make(at: path, journalMode: journalMode)
        let app = try TestStore.open(path, preparation: "PRAGMA locking_mode = EXCLUSIVE")
        try await app.write { try $0.execute(sql: "DELETE FROM t") }
        let start = ContinuousClock.now
        try await expect(.busy(path, waited: .milliseconds(300)), timeout: .milliseconds(300))
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        try app.close()
        _ = try await SourceStore(at: path).compactCopy(in: temporary)
    }

    @Test func `an exclusive writer that is done in time is waited for`() async throws {
        try SampleStore.plain.make(at: path)
        let app = try TestStore.open(path)
        let store = try SourceStore(at: path)
        let (locked, isLocked) = AsyncStream.makeStream(of: Void.self)
        let writing = Task.detached {
            try await app.writeWithoutTransaction { database in
                try database.execute(sql: "BEGIN EXCLUSIVE; DELETE FROM t")
                isLocked.finish()
                Thread.sleep(forTimeInterval: 0.2)
                try database.execute(sql: "COMMIT")
            }
        }
        for await _ in locked {}
        let copy = try await store.compactCopy(in: temporary)
        #expect(try StoreContent(of: copy.path).tables["t"] == [])
        try await writing.value
    }

    @Test func `a collation that only the app defines`() async throws {
        let app = try TestStore.open(path)
        try await app.write { database in
            database.add(collation: DatabaseCollation("APP'S ORDER") { $0.compare($1) })
            try database.execute(
                sql: """
                    CREATE TABLE t(a TEXT COLLATE "APP'S ORDER"); INSERT INTO t VALUES ('x'), ('y');
                    CREATE INDEX i ON t(a);
                    """)
        }
        try app.close()
        try await expect(.needsApp(.collation("APP'S ORDER")))
    }

    /// Rows can be read without it; an index cannot be compared with its table.
    @Test(arguments: [
        ("CREATE TABLE t(a TEXT); CREATE INDEX i ON t(appOrder(a))", true),
        ("CREATE TABLE t(a CHECK (appOrder(a) > 0))", false), ("CREATE TABLE t(a, b AS (appOrder(a)) STORED)", false),
    ])
    func `a function that only the app defines`(schema: String, isNeeded: Bool) async throws {
        let app = try TestStore.open(path)
        try await app.write { database in
            database.add(function: DatabaseFunction("appOrder", argumentCount: 1, pure: true) { $0.first })
            try database.execute(sql: "\(schema); INSERT INTO t(a) VALUES (1)")
        }
        try app.close()
        guard isNeeded else {
            for inCanonicalForm in [true, false] {
                let copy = try await SourceStore(at: path).compactCopy(in: temporary, inCanonicalForm: inCanonicalForm)
                #expect(try StoreContent(of: copy.path) == StoreContent(of: path))
            }
            return
        }
        try await expect(.needsApp(.function("appOrder")))
    }

    @Test func `a transaction that was cut off`() async throws {
        let live = scratch.path.appending("live.sqlite")
        try SampleStore.plain.make(at: live)
        let app = try TestStore.open(live, preparation: "PRAGMA cache_size = 1")
        try await app.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN; UPDATE t SET b = randomblob(3000)")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: live.string + suffix, toPath: path.string + suffix)
            }
            try database.execute(sql: "ROLLBACK")
        }
        func ownFiles() throws -> [FolderListing.Entry] {
            try FolderListing(of: path.removingLastComponent()).entries.filter { $0.name.hasPrefix("store.sqlite") }
        }
        let before = try ownFiles()
        try await expect(.hotJournal(path))
        #expect(try before.map(\.name) == ["store.sqlite", "store.sqlite-journal"] && ownFiles() == before)
    }

    @Test func `a temporary folder that is not there`() async throws {
        try SampleStore.plain.make(at: path)
        await #expect {
            _ = try await SourceStore(at: path).compactCopy(in: "/nowhere/at/all")
        } throws: { error in
            guard case .file(let error) = error as? SnapshotError else { return false }
            return error.errno == .noSuchFileOrDirectory
        }
    }
}
