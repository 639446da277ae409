import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Readers that know nothing of generations: they open `INBOX/NAME.sqlite`, while one shipment follows the other and only the
/// newest generation is kept.
@Suite struct PlainReaderTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    /// Opens the store by its public name, again and again, until there is a file `done`: says how often, and what failed.
    private static let reader = """
        import os, sqlite3, sys
        opens, failures = 0, []
        while not os.path.exists("done"):
            try:
                db = sqlite3.connect("file:inbox/Recipes.sqlite?mode=ro", uri=True)
                db.execute("SELECT count(*) FROM recipe").fetchone()
                db.close()
            except sqlite3.Error as error:
                failures.append(str(error))
            opens += 1
            if opens == 1: print("reading", flush=True)
        print(opens, len(failures), *failures[:3])
        """

    /// Resolves the public name as SQLite does, rests, and opens what it led to, as on a machine with a lot to do.
    private static let slowReader = """
        import os, sqlite3, time
        opens, failures = 0, []
        while not os.path.exists("done"):
            path = os.path.realpath("inbox/Recipes.sqlite")
            if opens == 0: print("reading", flush=True)
            time.sleep(0.2)
            try:
                db = sqlite3.connect("file:" + path + "?mode=ro", uri=True)
                db.execute("SELECT count(*) FROM recipe").fetchone()
                db.close()
            except sqlite3.Error as error:
                failures.append(str(error))
            opens += 1
        print(opens, len(failures), *failures[:3])
        """

    /// What was left stays for as long as two others come after it, and these must take longer than the slow reader rests.
    private static let rest = "sleep 0.2"

    @Test(arguments: ["to a listener", "each to a receiver of its own"])
    func `no open fails although only the newest generation is kept`(way: String) async throws {
        for name in ["a", "b"] {
            try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('\(name)')")
            try await desk.run("send", "Recipes.sqlite", "--to", "./\(name).shipment", "-q").expectSuccess()
        }
        try await desk.run("receive", "--into", "inbox", "--from", "./b.shipment", "--keep", "1").expectSuccess()
        var readers: [ChildProgram] = []
        for script in [Self.reader, Self.reader, Self.slowReader] {
            let reader = try ChildProgram("/usr/bin/env", ["python3", "-c", script], in: desk.path)
            _ = try await reader.waitForLine(containing: "reading", on: .output)
            readers.append(reader)
        }
        let count = Soak.isOn ? 300 : 12
        let sends =
            way == "to a listener"
            ? """
            $SHIP receive --into inbox --keep 1 --listen unix:\(desk.temporary)/socket -q & trap 'kill $!' EXIT
            until test -S \(desk.temporary)/socket; do sleep 0.01; done
            for n in $(seq \(count)); do
              \(Self.rest)
              sqlite3 Recipes.sqlite "INSERT INTO recipe(title) VALUES ('Pie $n')"
              $SHIP send Recipes.sqlite --to unix:\(desk.temporary)/socket -q
            done
            """
            : """
            for n in $(seq \(count)); do
              \(Self.rest)
              if test $((n % 2)) = 1; then name=a; else name=b; fi
              $SHIP receive --into inbox --keep 1 --replace Recipes --from ./$name.shipment -q
            done
            """
        try await desk.shell(sends, timeout: .seconds(300)).expectSuccess()
        _ = try OpenFile.creating(desk["done"])
        for reader in readers {
            let words = try await reader.wait().stdout.split(separator: "\n").last?.split(separator: " ") ?? []
            #expect(Int(words.first ?? "") ?? 0 > 2, "\(words)")
            #expect(words.dropFirst().first == "0", "\(words)")
        }
        // What stayed for a moment goes with the next start that comes later.
        try await Task.sleep(for: .milliseconds(2100))
        try await desk.run(
            "receive", "--into", "inbox", "--keep", "1", "--replace", "Recipes", "--from", "./a.shipment"
        ).expectSuccess()
        let generations = try Folder.names(in: desk["inbox/.ship-store/Recipes/generations"])
        #expect(generations.count <= 2, "\(generations)")
    }

    @Test func `prune waits for those who may be on their way, and then removes`() async throws {
        for name in ["a", "b"] {
            try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('\(name)')")
            try await desk.run("send", "Recipes.sqlite", "--to", "./\(name).shipment", "-q").expectSuccess()
            try await desk.run("receive", "--into", "inbox", "--from", "./\(name).shipment", "-q").expectSuccess()
        }
        let old = try PlatformCalls.realPath(of: desk["inbox/Recipes.sqlite"])
        try await desk.run("rollback", "Recipes", "--into", "inbox").expectSuccess()
        let prune = try desk.start("prune", "--into", "inbox", "--keep", "1")
        try await Task.sleep(for: .milliseconds(500))
        #expect(try OpenFile.reading(old).size > 0)
        #expect(try await prune.wait().lines == ["removed  Recipes  2"])
        #expect((try? PlatformCalls.status(of: old)) == nil)
        #expect(try Folder.names(in: desk["inbox/.ship-store/Recipes"]).contains("left.json") == false)
    }
}
