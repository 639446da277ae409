import Foundation
import GRDB
import SystemPackage
import Testing

/// A store whose content tells which commit it is of: a row for each.
struct TickingStore {
    let path: FilePath
    private(set) var tick = 0
    private var open: DatabaseQueue?

    init(at path: FilePath) throws {
        self.path = path
        try make()
    }

    private mutating func queue() throws -> DatabaseQueue {
        if let open { return open }
        var configuration = Configuration()
        // A reader in a rollback mode keeps writers waiting.
        configuration.busyMode = .timeout(20)
        let queue = try DatabaseQueue(path: path.string, configuration: configuration)
        open = queue
        return queue
    }

    mutating func close() throws {
        try open?.close()
        open = nil
    }

    private mutating func make() throws {
        let queue = try queue()
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 10000;
                    CREATE TABLE tick(n INTEGER); CREATE TABLE log(n INTEGER PRIMARY KEY, text TEXT);
                    INSERT INTO tick VALUES (0);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(tick))
                    INSERT INTO log SELECT i, 'again ' || i FROM n WHERE \(tick) > 0;
                    UPDATE tick SET n = \(tick);
                    """)
        }
    }

    mutating func commit() throws {
        tick += 1
        try queue().write { database in
            try database.execute(sql: "UPDATE tick SET n = ?", arguments: [tick])
            try database.execute(sql: "INSERT INTO log VALUES (?, ?)", arguments: [tick, "entry \(tick)"])
        }
    }

    mutating func run(_ sql: String) throws {
        try queue().writeWithoutTransaction { try $0.execute(sql: sql) }
    }

    /// Another file in its place, which holds the same and one commit more.
    mutating func replace() throws {
        try run("VACUUM INTO '\(path.string)-next'")
        try close()
        for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path.string + end) }
        _ = rename(path.string + "-next", path.string)
        try run("PRAGMA journal_mode = WAL")
        try commit()
    }

    /// Gone for a moment, then made anew.
    mutating func makeAnew() throws {
        try close()
        for end in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path.string + end)
        }
        try make()
        try commit()
    }

    /// What a reader sees: the commit of which the copy is. It fails for a copy that is of none.
    static func tick(of path: FilePath) throws -> Int? {
        guard FileManager.default.fileExists(atPath: path.string) else { return nil }
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path.string, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { database in
            let (tick, count, last) = (
                try Int.fetchOne(database, sql: "SELECT n FROM tick") ?? -1,
                try Int.fetchOne(database, sql: "SELECT count(*) FROM log") ?? -1,
                try Int.fetchOne(database, sql: "SELECT coalesce(max(n), 0) FROM log") ?? -1
            )
            #expect(tick == count && tick == last)
            return tick
        }
    }
}
