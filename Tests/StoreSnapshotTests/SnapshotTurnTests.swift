import GRDB
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import StoreSnapshot

/// What runs around the beginning of a copy knows which state the copy is of, in whatever way it is taken.
@Suite struct SnapshotTurnTests {
    enum Way: CaseIterable { case direct, vacuumed, withChecks, leftOut, withoutCanonicalForm }

    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
    }

    /// A store in WAL mode, so that others may commit at any moment.
    private func make(_ way: Way, value: Int = 0) throws -> DatabaseQueue {
        let app = try TestStore.open(path)
        try app.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL;
                    CREATE TABLE t(a INT \(way == .withChecks ? "CHECK (a < 1000)" : "")); INSERT INTO t VALUES (\(value));
                    CREATE TABLE other(a); INSERT INTO other VALUES (1);
                    """)
            if way == .withoutCanonicalForm {
                try database.execute(sql: "CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('hello')")
            }
        }
        return app
    }

    private func copy(_ way: Way, _ turn: SnapshotTurn) async throws -> Int? {
        var profile = CopyProfile()
        if way == .leftOut { profile.emptiedTables = ["other"] }
        let copy = try await SourceStore(at: path).compactCopy(
            in: scratch.path, profile, inCanonicalForm: way != .vacuumed, turn: turn)
        let queue = try TestStore.open(copy.path)
        defer { try? queue.close() }
        return try await queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
    }

    @Test(arguments: Way.allCases)
    func `a commit before it is in the copy, and one after it is not`(way: Way) async throws {
        let app = try make(way)
        let settled = Mutex<Int?>(nil)
        let value = try await copy(
            way,
            SnapshotTurn { _, begin in
                func commit() throws {
                    try app.writeWithoutTransaction { try $0.execute(sql: "UPDATE t SET a = a + 1") }
                }
                try commit()
                let before = try app.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
                guard try begin() else { return }
                settled.withLock { $0 = before }
                try commit()
            })
        #expect(value != nil && value == settled.withLock { $0 })
        try app.close()
    }

    @Test(arguments: Way.allCases)
    func `a file that takes the store's name before it is what is copied`(way: Way) async throws {
        try make(way).close()
        let other = scratch.path.appending("other.sqlite")
        try PlatformCalls.rename(path, to: other)
        try make(way, value: 7).close()
        let calls = Mutex(0)
        let (here, there) = (path, other)
        let value = try await copy(
            way,
            SnapshotTurn { _, begin in
                if calls.withLock({
                    $0 += 1; return $0
                }) == 1 {
                    try PlatformCalls.rename(there, to: here)
                }
                _ = try begin()
            })
        #expect(value == 0)
        #expect(calls.withLock { $0 } > 1)
    }

    @Test func `what it throws ends the copy`() async throws {
        struct Refused: Error {}
        try make(.direct).close()
        await #expect(throws: SnapshotError.self) {
            _ = try await copy(.direct, SnapshotTurn { _, _ in throw Refused() })
        }
        #expect(try Folder.names(in: scratch.path).filter { $0.hasPrefix("ship-store") } == [])
    }
}
