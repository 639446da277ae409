import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing

extension Desk {
    /// A store in WAL mode with a few rows.
    @discardableResult
    func makeStore(_ name: String = "Recipes.sqlite", rows: Int = 3) throws -> FilePath {
        try TestStore.make(
            at: self[name],
            sql: """
                PRAGMA journal_mode = WAL;
                CREATE TABLE recipe(id INTEGER PRIMARY KEY, title TEXT);
                CREATE INDEX recipe_by_title ON recipe(title);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                INSERT INTO recipe(title) SELECT 'Soup ' || i FROM n;
                """)
        return self[name]
    }

    /// A store that does not get smaller on the way: longer than what a pipe or a socket holds.
    func makeLargeStore(_ name: String = "Large.sqlite", megabytes: Int = 3) throws {
        try TestStore.make(
            at: self[name],
            sql: """
                CREATE TABLE photo(id INTEGER PRIMARY KEY, data BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(megabytes * 100))
                INSERT INTO photo(data) SELECT randomblob(10000) FROM n;
                """)
    }

    /// A store that another program keeps locked until `body` ends.
    func withLockedStore<Value>(
        _ name: String = "Locked.sqlite", _ body: () async throws -> Value
    ) async throws -> Value {
        try TestStore.make(at: self[name], sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        let queue = try TestStore.open(self[name])
        try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        defer { try? queue.close() }
        return try await body()
    }

    /// The bytes of a shipment, as a file keeps them.
    func shipment(of name: String = "Recipes.sqlite") async throws -> [UInt8] {
        let file = scratchFile("shipment")
        try await run("send", name, "--to", file.string, "--quiet").expectSuccess()
        return Array(try Data(contentsOf: URL(fileURLWithPath: file.string)))
    }

    func execute(_ sql: String, in store: String) throws {
        try TestStore.make(at: self[store], sql: sql)
    }

    /// Waits until the inbox holds just what the store does.
    func arrives(
        _ name: String, in inbox: String = "inbox", from store: String, within seconds: Int = 30
    ) async throws {
        try await waitUntil(within: .seconds(seconds)) {
            (try? hasInstalled(name, in: inbox, from: store)) == true
        }
    }
}
