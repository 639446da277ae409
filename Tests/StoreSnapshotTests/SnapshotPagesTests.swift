import Foundation
import GRDB
import GRDBSQLite
import StoreFiles
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import StoreSnapshot

/// What is read of a live store page by page is what its transaction sees, whatever others do meanwhile.
@Suite struct SnapshotPagesTests {
    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
    }

    private static let rows = """
        CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, a BLOB);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO t(a) SELECT randomblob(700) FROM n
        """

    private func app(_ sql: String = "") throws -> DatabaseQueue {
        let app = try TestStore.open(path)
        try app.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 0; \(sql)") }
        return app
    }

    /// Reads all pages after `meanwhile`, and compares them with those that the backup API gives in the same transaction.
    private func compare(_ reader: DatabaseQueue, meanwhile: (Int) throws -> Void = { _ in }) throws {
        let interruption = Interruption()
        let copy = scratch.path.appending("copy \(UUID().uuidString)")
        var pages: [[UInt8]] = []
        let compared: Void? = try reader.unsafeRead { database in
            try SnapshotPages.read(database, interruption) { snapshot in
                for number in 1...snapshot.pageCount {
                    if number % 8 == 1 { try meanwhile(Int(number / 8)) }
                    var page = [UInt8](repeating: 0, count: snapshot.pageSize)
                    try snapshot.read(number, into: &page)
                    pages.append(page)
                }
                let target = try TestStore.open(copy)
                target.unsafeRead { target in
                    let backup = sqlite3_backup_init(target.sqliteConnection, "main", database.sqliteConnection, "main")
                    #expect(sqlite3_backup_step(backup, -1) == SQLITE_DONE)
                    #expect(sqlite3_backup_finish(backup) == SQLITE_OK)
                }
                try target.close()
                return ()
            }
        }
        #expect(compared != nil)
        let bytes = try copy.content
        let pageSize = try #require(pages.first?.count)
        #expect(pages.count == bytes.count / pageSize)
        for (index, page) in pages.enumerated() {
            // The backup has a header of its own.
            let start = index == 0 ? DatabaseHeader.size : 0
            #expect(page[start...] == bytes[(index * pageSize + start)..<((index + 1) * pageSize)], "page \(index + 1)")
        }
    }

    @Test(arguments: ["DELETE", "TRUNCATE", "PERSIST", "MEMORY"], [512, 4096, 65_536])
    func `without a log`(journalMode: String, pageSize: Int) throws {
        let app = try app("PRAGMA page_size = \(pageSize); PRAGMA journal_mode = \(journalMode); \(Self.rows)")
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: path.string, configuration: configuration)
        try reader.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        try compare(reader) { _ in
            // Nobody writes meanwhile.
            #expect(throws: DatabaseError.self) {
                try app.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM t WHERE id < 100") }
            }
        }
        try app.writeWithoutTransaction { try $0.execute(sql: "DELETE FROM t WHERE id < 100") }
        try app.close()
    }

    enum Log: String, CaseIterable {
        case empty, notMoved, moved, partlyMoved, begunAnew
    }

    @Test(arguments: Log.allCases, [512, 4096, 65_536])
    func `with a log`(log: Log, pageSize: Int) throws {
        let app = try app("PRAGMA page_size = \(pageSize); PRAGMA journal_mode = WAL; \(Self.rows)")
        let older = try TestStore.open(path)
        func run(_ sql: String) throws { try app.writeWithoutTransaction { try $0.execute(sql: sql) } }
        switch log {
        case .notMoved: break
        case .empty: try run("PRAGMA wal_checkpoint(TRUNCATE)")
        case .moved: try run("PRAGMA wal_checkpoint(PASSIVE)")
        case .partlyMoved:
            try older.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT count(*) FROM t") }
            try run("\(Self.rows); UPDATE t SET a = randomblob(600) WHERE id % 2; PRAGMA wal_checkpoint(PASSIVE)")
        case .begunAnew: try run("PRAGMA wal_checkpoint(RESTART); UPDATE t SET a = randomblob(500) WHERE id % 7 = 0")
        }
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: path.string, configuration: configuration)
        try reader.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        try compare(reader) { step in
            try run("UPDATE t SET a = randomblob(650) WHERE id % 5 = \(step % 5)")
            try run("INSERT INTO t(a) VALUES (zeroblob(5000))")
            let mode = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][step % 4]
            // Those that would wait for the reader say that they are busy.
            try? run("PRAGMA wal_checkpoint(\(mode))")
        }
        try older.close()
        // And once more, of what is there now.
        try compare(reader)
        try reader.close()
        try app.close()
    }

    @Test func `a log with too many frames is left to SQLite`() throws {
        let app = try app("PRAGMA journal_mode = WAL; \(Self.rows)")
        func isRead(upTo frames: UInt32) throws -> Bool {
            try app.unsafeRead { try SnapshotPages.read($0, Interruption(), upTo: frames) { _ in true } } ?? false
        }
        #expect(try isRead(upTo: SnapshotPages.mostFrames))
        #expect(try !isRead(upTo: 20))
        try app.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        #expect(try isRead(upTo: 20))
        try app.close()
    }
}
