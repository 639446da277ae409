import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// An app of another process is in the middle of a transaction when somebody restores, moves or destroys its store: its
/// commit neither fails nor waits, whatever its journal mode.
@Suite struct BusyAppTests {
    private let desk: Desk
    private let store: FilePath

    init() throws {
        desk = try Desk()
        store = desk["Recipes.sqlite"]
        try TestStore.make(
            at: store,
            sql: """
                CREATE TABLE tick(at INT); CREATE TABLE page(id INTEGER PRIMARY KEY, text BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                INSERT INTO page(text) SELECT randomblob(1000) FROM n;
                """)
    }

    /// An app that is in the middle of a transaction: `Clients/committer.py`.
    private func app(_ mode: String, _ manner: String = "write") async throws -> ChildProgram {
        let script = FilePath(#filePath).removingLastComponent().removingLastComponent().appending(
            "Clients/committer.py")
        let app = try ChildProgram("/usr/bin/env", ["python3", script.string, store.string, mode], input: .pipe)
        await app.write(Array("\(manner)\n".utf8))
        _ = try await app.waitForLine(containing: "begun", on: .output)
        return app
    }

    /// Lets the app commit what it has begun, and expects that nothing kept it from that.
    private func commit(_ app: ChildProgram) async throws {
        await app.write(Array("\n".utf8))
        let line = try await app.waitForLine(containing: "committed after", on: .output)
        #expect(line.hasSuffix("[]"), "\(line)")
        #expect(try #require(Double(line.split(separator: " ")[2])) < 1, "\(line)")
    }

    /// How many commits the app made in the end, and the longest time of one in seconds.
    private func end(_ app: ChildProgram, mayFail: Bool = false) async throws -> (commits: Int, longest: Double) {
        app.closeInput()
        let outcome = try await app.wait()
        let words = (outcome.lines.last ?? "").split(separator: " ", maxSplits: 5)
        try #require(words.count == 6 && words[0] == "commits", "\(outcome)")
        if !mayFail { #expect(words[5] == "[]", "\(outcome.stdout)") }
        return (try #require(Int(words[1])), try #require(Double(words[3])))
    }

    private func ticks(in path: FilePath, of value: Int? = nil) throws -> Int? {
        let queue = try TestStore.open(path)
        defer { try? queue.close() }
        return try queue.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM tick \(value.map { "WHERE at = \($0)" } ?? "")")
        }
    }

    // In WAL mode a reader is not in the way.
    @Test(arguments: [
        ("DELETE", "write"), ("TRUNCATE", "write"), ("PERSIST", "write"), ("WAL", "write"), ("DELETE", "read"),
        ("TRUNCATE", "read"), ("PERSIST", "read"),
    ])
    func `a restore lets a transaction that began before it commit at once`(mode: String, manner: String) async throws {
        let kept = try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept")
        let copy = try #require(kept.lines.first)
        let app = try await app(mode, manner)
        let restore = try desk.start("restore", copy, "--over", "Recipes.sqlite", "--busy-timeout", "30", "--json")
        try await Task.sleep(for: .seconds(1))
        #expect(restore.text(.output) == "", "it does not wait")
        try await commit(app)
        let outcome = try await restore.wait().expectSuccess()
        // The app goes on, and waits for the restore itself at most.
        try await Task.sleep(for: .milliseconds(200))
        let (commits, longest) = try await end(app)
        #expect(commits > 1)
        #expect(longest < 3, "\(longest) s")
        let safety = try #require(try outcome.objects()[0]["safetyCopy"] as? String)
        #expect(try ticks(in: FilePath(safety).appending("Recipes.sqlite"), of: 0) == 1)
        #expect(try ticks(in: store, of: 0) == 0)
    }

    @Test(
        arguments: ["DELETE", "TRUNCATE", "PERSIST", "WAL"],
        [["move", "Recipes.sqlite", "--to", "Group", "--remove-old"], ["destroy", "Recipes.sqlite"]])
    func `a removal lets a transaction that began before it commit at once`(mode: String, arguments: [String])
        async throws
    {
        let app = try await app(mode)
        let removal = try desk.start(arguments + ["--busy-timeout", "30"])
        try await Task.sleep(for: .seconds(1))
        try await commit(app)
        // What it begins afterwards may find that its store is gone.
        let (commits, _) = try await end(app, mayFail: true)
        try await removal.wait().expectSuccess()
        #expect((try? PlatformCalls.status(of: store)) == nil)
        if arguments[0] == "move" { #expect(try ticks(in: desk["Group/Recipes.sqlite"]) == commits) }
    }

    @Test(arguments: ["DELETE", "WAL"])
    func `whoever gives up has disturbed nobody`(mode: String) async throws {
        let kept = try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept")
        let copy = try #require(kept.lines.first)
        let app = try await app(mode)
        for arguments in [
            ["restore", copy, "--over", "Recipes.sqlite"], ["destroy", "Recipes.sqlite"],
            ["move", "Recipes.sqlite", "--to", "Group", "--remove-old"],
        ] {
            let outcome = try await desk.run(arguments + ["--busy-timeout", "0.3"])
            #expect(outcome.status == .exited(75), "\(arguments) \(outcome.stderr)")
        }
        try await commit(app)
        _ = try await end(app)
        #expect(try ticks(in: store, of: 0) == 1)
        #expect(try desk.leftovers == [])
    }

    /// A journal that a killed app has left is played back before the store is touched.
    @Test(arguments: ["restore", "move"])
    func `a transaction that was cut off is rolled back first`(command: String) async throws {
        let kept = try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept")
        let copy = try #require(kept.lines.first)
        let before = try StoreContent(of: store)
        let script = """
            import os, sqlite3, sys
            db = sqlite3.connect(sys.argv[1], isolation_level=None)
            db.execute("PRAGMA cache_size = 5")
            db.execute("BEGIN IMMEDIATE")
            db.execute("UPDATE page SET text = zeroblob(1000)")
            os.kill(os.getpid(), 9)
            """
        _ = try await ChildProgram("/usr/bin/env", ["python3", "-c", script, store.string]).wait()
        #expect(try PlatformCalls.status(of: FilePath(store.string + "-journal")).size > 0)
        if command == "restore" {
            let outcome = try await desk.run("restore", copy, "--over", "Recipes.sqlite", "--json").expectSuccess()
            let safety = try #require(try outcome.objects()[0]["safetyCopy"] as? String)
            #expect(try StoreContent(of: FilePath(safety).appending("Recipes.sqlite")) == before)
            #expect(try StoreContent(of: store) == before)
        } else {
            try await desk.run("move", "Recipes.sqlite", "--to", "Group", "--remove-old").expectSuccess()
            #expect(try StoreContent(of: desk["Group/Recipes.sqlite"]) == before)
        }
    }
}
