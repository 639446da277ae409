import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Stores that SQLite alone can tell nothing of: they need a collation or a function of their app, or they are encrypted.
@Suite struct AppPartTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func make(_ name: String, _ mode: String, _ more: String = "") throws {
        let queue = try TestStore.open(desk[name])
        try queue.writeWithoutTransaction { database in
            database.add(collation: DatabaseCollation("APP") { $0.compare($1) })
            database.add(function: DatabaseFunction("app_fn", argumentCount: 1, pure: true) { $0[0] })
            try database.execute(
                sql: """
                    PRAGMA journal_mode = \(mode);
                    CREATE TABLE t(id INTEGER PRIMARY KEY, n TEXT); INSERT INTO t(n) VALUES ('b'), ('a'); \(more)
                    """)
        }
        try queue.close()
    }

    /// The way back works, and keeps the bytes of the store as it was, of which no compact copy can be taken.
    @Test(
        arguments: [
            "CREATE INDEX i ON t(n COLLATE APP)", "CREATE INDEX i ON t(app_fn(n))",
            "CREATE INDEX i ON t(n) WHERE app_fn(n) NOT NULL",
            "CREATE TABLE w(n TEXT COLLATE APP PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES ('x')",
        ], ["WAL", "DELETE"])
    func `a copy is restored over a store that needs its app`(sql: String, mode: String) async throws {
        try make("old.sqlite", mode)
        try await desk.run("copy", "old.sqlite", "--keep-in", "kept", "-q").expectSuccess()
        let content = try StoreContent(of: desk["old.sqlite"])
        try make("Notes.sqlite", mode, sql)
        let restored = try await desk.shell("\"$SHIP\" restore kept/* --over Notes.sqlite --any-identity")
        #expect(restored.status == .exited(0), "\(restored.stderr)")
        #expect(restored.stderr.contains("which only its app defines"), "\(restored.stderr)")
        #expect(try StoreContent(of: desk["Notes.sqlite"]) == content)
        let name = try #require(try Folder.names(in: desk.path).first { $0.contains(".damaged-") })
        let queue = try TestStore.open(desk["\(name)/Notes.sqlite"])
        let left = try await queue.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_schema") }
        try queue.close()
        #expect(left.count > 1)
        // From there nothing can be restored without the app.
        let back = try await desk.run("restore", "\(name)/Notes.sqlite", "--over", "Notes.sqlite", "-q")
        #expect(back.status == .exited(65), "\(back.stderr)")
        #expect(back.stderr.contains("which only its app defines"), "\(back.stderr)")
        #expect(try StoreContent(of: desk["Notes.sqlite"]) == content)
    }

    /// As SQLCipher leaves it with `cipher_plaintext_header_size`: the header, and behind it what looks like chance.
    @Test func `an encrypted store with a plain header is bad data to whoever is to write to it`() async throws {
        var bytes = Data("SQLite format 3\0".utf8) + Data([0x10, 0, 2, 2, 0x50, 0x40, 0x20, 0x20])
        // One in a hundred would have a page's type by chance where that stands.
        var random = RepeatableRandom(seed: 1)
        bytes += random.bytes(40_936)
        try bytes.write(to: URL(filePath: desk["secret.db"].string))
        for arguments in [["metadata", "--set", "a=b"], ["metadata"], ["move", "--to", "x"]] {
            let outcome = try await desk.run(arguments + ["secret.db"])
            #expect(outcome.status == .exited(65), "\(arguments): \(outcome.stderr)")
            #expect(outcome.stderr.contains("encrypted"), "\(outcome.stderr)")
            #expect(outcome.stderr.contains("hint: "), "\(outcome.stderr)")
        }
        #expect(try Data(contentsOf: URL(filePath: desk["secret.db"].string)) == bytes)
    }
}
