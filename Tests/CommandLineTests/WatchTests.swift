import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct WatchTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    /// Ships the store once more.
    private func ship(_ name: String = "Recipes", title: String = "Tea", _ options: String...) async throws {
        let queue = try TestStore.open(desk["Recipes.sqlite"])
        try await queue.write { try $0.execute(sql: "INSERT INTO recipe(title) VALUES (?)", arguments: [title]) }
        try queue.close()
        try await desk.run(["send", "Recipes.sqlite", "--to", "one.shipment", "--name", name] + options).expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./one.shipment").expectSuccess()
    }

    private func watch(_ arguments: String...) async throws -> ChildProgram {
        let program = try BuiltProgram.start(["watch", "--into", "inbox"] + arguments, in: desk.path)
        _ = try await program.waitForLine(containing: "watching inbox")
        return program
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `each change is a line, and a signal ends it well`(signal: Int32) async throws {
        try await ship()
        let watch = try await watch()
        try await ship("Recipes", title: "Soup", "--meta", "author=me")
        _ = try await watch.waitForLine(containing: "Recipes  2 (was 1)", on: .output)
        try await ship("Soups")
        let line = try await watch.waitForLine(containing: "Soups", on: .output)
        #expect(line.hasPrefix("Soups  1 (new)"))
        watch.signal(signal)
        let outcome = try await watch.wait(timeout: .seconds(20)).expectSuccess()
        #expect(outcome.lines.count == 3)
        #expect(outcome.lines.first == "Recipes  1  current")
        #expect(outcome.lines.dropFirst().first?.hasSuffix("author=me") == true)
    }

    @Test func `with --json each change is an object`() async throws {
        try await ship()
        let watch = try await watch("--json", "--once")
        try await ship("Recipes", title: "Soup", "--meta", "author=me")
        let outcome = try await watch.wait().expectSuccess()
        let (first, object) = (try #require(outcome.events().first), try #require(outcome.events().last))
        #expect(first["event"] as? String == "current")
        #expect(first["name"] as? String == "Recipes")
        #expect(first["generation"] as? Int == 1)
        #expect((first["sha256"] as? String)?.count == 64)
        #expect(object["event"] as? String == "changed")
        #expect(object["name"] as? String == "Recipes")
        #expect(object["generation"] as? Int == 2)
        #expect(object["from"] as? Int == 1)
        #expect(object["isStepBack"] as? Bool == false)
        #expect((object["sha256"] as? String)?.count == 64)
        #expect((object["metadata"] as? [String: [String: String]])?["author"]?["after"] == "me")
        for (number, object) in [(1, first), (2, object)] {
            let path = try #require(object["path"] as? String)
            #expect(path.hasPrefix("\(desk.path)/inbox/.ship-store/Recipes/generations/\(number)-"))
            #expect(path.hasSuffix("/Recipes.sqlite"))
        }
    }

    @Test func `with --rows each change names its rows, and the objects that they are`() async throws {
        let sample = try CoreDataSample(at: desk["Meals.sqlite"])
        try sample.addSubentity()
        try TestStore.make(
            at: sample.path,
            sql: """
                CREATE TABLE tag(name, n REAL, part BLOB, PRIMARY KEY(name, n, part)) WITHOUT ROWID;
                INSERT INTO tag VALUES ('sweet', 1.5, x'0aff'), ('sour', 9e999, x'');
                """)
        func ship(_ sql: String) async throws {
            try TestStore.make(at: sample.path, sql: sql)
            try await desk.run("send", "Meals.sqlite", "--to", "exec:$SHIP receive --into inbox --from -")
                .expectSuccess()
        }
        try await ship("")
        let watch = try await watch("--rows", "--json", "--once")
        let plain = try await self.watch("--rows", "--once")
        try await ship(
            """
            INSERT INTO ZRECIPE VALUES (902, 3, 1, 'Jelly', NULL); UPDATE Z_PRIMARYKEY SET Z_MAX = 902 WHERE Z_ENT = 1;
            UPDATE ZRECIPE SET ZNAME = 'Broth', Z_OPT = 2 WHERE Z_PK = 2; DELETE FROM ZRECIPE WHERE Z_PK = 1;
            DELETE FROM tag; CREATE TABLE note(text); INSERT INTO note VALUES ('x');
            """)
        let outcome = try await watch.wait()
        try outcome.expectOutput(of: "watch")
        let tables = try #require(outcome.events().last?["tables"] as? [[String: Any]])
        func rows(_ table: String) -> NSDictionary? {
            tables.first { $0["name"] as? String == table }?["rows"] as? NSDictionary
        }
        func object(_ key: Int, _ entity: String) -> [String: Any] {
            [
                "key": [key], "entity": entity,
                "objectID": "x-coredata://\(CoreDataSample.identity)/\(entity)/p\(key)",
            ]
        }
        let recipes: NSDictionary = [
            "key": ["Z_PK"], "inserted": [object(902, "Dessert")], "updated": [object(2, "Recipe")],
            "deleted": [object(1, "Recipe")],
        ]
        #expect(rows("ZRECIPE") == recipes)
        let tags: NSDictionary = [
            "key": ["name", "n", "part"], "inserted": [Any](), "updated": [Any](),
            "deleted": [["key": ["sour", ["real": "inf"], ["blob": ""]]], ["key": ["sweet", 1.5, ["blob": "0aff"]]]],
        ]
        #expect(rows("tag") == tags)
        #expect(rows("note") == ["any": "new"])
        let line = try #require(try await plain.wait().lines.last)
        #expect(line.contains("ZRECIPE changed (1 inserted, 1 updated, 1 deleted)"))
        #expect(line.contains("note new, 1 rows") && line.contains("tag 2 to 0 rows (2 deleted)"))
    }

    @Test func `a file in the place of a store's generations is an error, unless the store is not told of`()
        async throws
    {
        try await ship("Soups")
        try await ship()
        let place = "inbox/.ship-store/Soups/generations"
        try await desk.shell("mv \(place) aside; : > \(place)").expectSuccess()
        let outcome = try await desk.run("watch", "--into", "inbox", timeout: .seconds(20))
        #expect(outcome.status != .exited(0))
        let hint = "ship-store: hint: move \(place) away: it is no folder, and the inbox keeps one there"
        #expect(outcome.complaints.last == hint, "\(outcome.stderr)")
        let watch = try await watch("Recipes")
        watch.signal(SIGTERM)
        try await watch.wait().expectSuccess()
    }

    @Test func `only the stores that are named are told`() async throws {
        try await ship()
        let watch = try await watch("Soups", "Teas", "--once")
        try await ship()
        try await ship("Teas")
        let outcome = try await watch.wait().expectSuccess()
        #expect(outcome.lines.map { $0.prefix(4) } == ["Teas"])
    }

    @Test func `the command knows the change, and can read the store`() async throws {
        try await ship()
        let line = """
            echo "$SHIP_STORE_NAME $SHIP_STORE_GENERATION $(sqlite3 -readonly "$SHIP_STORE_PATH" \
            'SELECT count(*) FROM recipe')"; echo "$SHIP_STORE_CHANGE"
            """
        let watch = try await watch("--json", "--once", "--exec", line)
        try await ship()
        let outcome = try await watch.wait().expectSuccess()
        #expect(outcome.lines.count == 4)
        #expect(outcome.lines.dropFirst(2).first == "Recipes 2 5")
        #expect(outcome.lines.dropFirst().first == outcome.lines.last)
    }

    @Test func `a command that fails is told, and the watch goes on`() async throws {
        try await ship()
        let watch = try await watch("--exec", "test \"$SHIP_STORE_GENERATION\" != 2 || exit 3; kill -9 $$")
        try await ship()
        _ = try await watch.waitForLine(containing: "ship-store: error: the command ended with status 3")
        try await ship()
        _ = try await watch.waitForLine(containing: "ship-store: error: the command was ended by signal 9")
        watch.signal(SIGTERM)
        #expect(try await watch.wait().status == .exited(0))
        let once = try await self.watch("--once", "--exec", "exit 3")
        try await ship()
        #expect(try await once.wait().status == .exited(3))
    }

    @Test func `what arrives while the command is busy is told in one change`() async throws {
        try await ship()
        let watch = try await watch("--exec", "echo ran $SHIP_STORE_GENERATION; until test -e go; do sleep 0.01; done")
        try await ship()
        _ = try await watch.waitForLine(containing: "ran 2", on: .output)
        for _ in 0..<3 { try await ship() }
        _ = try await desk.shell("touch go")
        _ = try await watch.waitForLine(containing: "ran 5", on: .output)
        watch.signal(SIGTERM)
        let outcome = try await watch.wait()
        #expect(outcome.lines.filter { $0.hasPrefix("ran") } == ["ran 2", "ran 5"])
    }

    @Test func `a signal stops the command, and what that has started`() async throws {
        try await ship()
        let watch = try await watch("--exec", "sleep 600 & echo child $!; wait")
        try await ship()
        let line = try await watch.waitForLine(containing: "child ", on: .output)
        watch.signal(SIGTERM)
        #expect(try await watch.wait(timeout: .seconds(20)).status == .exited(0))
        let child = try #require(line.split(separator: " ").last.flatMap { Int32($0) })
        // Whoever adopts it takes note of its end in its own time.
        let deadline = ContinuousClock.now + .seconds(10)
        while kill(child, 0) == 0, .now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        #expect(kill(child, 0) == -1)
    }

    /// How many rows the store at the path has that a change says.
    private static let count = """
        echo "ran $SHIP_STORE_GENERATION" \
        "$(cd / && sqlite3 -readonly "$SHIP_STORE_PATH" 'SELECT count(*) FROM recipe')"
        """

    @Test func `what arrived while nobody watched is a change since the one that was handled`() async throws {
        for _ in 1...3 { try await ship() }
        // Rows of the generations: 4, 5, 6.
        let since = try await desk.run(
            "watch", "--into", "inbox", "Recipes", "--since", "1", "--once", "--exec", Self.count
        ).expectSuccess()
        #expect(since.lines.last == "ran 3 6")
        #expect(since.lines.first?.hasPrefix("Recipes  3 (was 1)") == true)
        // Whose generation is gone is told all the same.
        let gone = try await desk.run(
            "watch", "--into", "inbox", "Recipes", "--since", "99", "--once", "--exec", Self.count)
        #expect(gone.lines.first == "Recipes  3" && gone.lines.last == "ran 3 6")
        let all = try await desk.run("watch", "--into", "inbox", "--since", "0", "--once", "--json").events()
        #expect(all.map { $0["event"] as? String } == ["changed"])
        #expect(all.first?["from"] == nil)
    }

    @Test func `what was handled is no change`() async throws {
        for _ in 1...2 { try await ship() }
        let watch = try await watch("Recipes", "--since", "2", "--once", "--exec", Self.count)
        _ = try await watch.waitForLine(containing: "Recipes  2  current", on: .output)
        try await ship()
        #expect(try await watch.wait().lines.last == "ran 3 6")
    }

    @Test func `the command reads the generation that was announced, whatever has come since`() async throws {
        try await ship()
        let command = "until test -e go; do sleep 0.01; done; " + Self.count
        let watch = try await watch("--once", "--exec", command)
        try await ship()
        _ = try await watch.waitForLine(containing: "Recipes  2 (was 1)", on: .output)
        for _ in 0..<2 { try await ship() }
        try await desk.run("prune", "--into", "inbox", "--keep", "1").expectSuccess()
        _ = try await desk.shell("touch go")
        #expect(try await watch.wait().lines.last == "ran 2 5")
    }

    @Test func `a number is of one store`() async throws {
        for arguments in [["--since", "3"], ["--since", "3", "Recipes", "Soups"], ["--since", "-1", "Recipes"]] {
            let outcome = try await desk.run(["watch", "--into", "inbox"] + arguments)
            #expect(outcome.status == .exited(64), "\(arguments)")
        }
    }

    @Test func `there is no inbox`() async throws {
        try await desk.run("watch", "--into", "nowhere").expectFailure(
            66, "nowhere is no inbox", hint: "receive into it first: ship-store receive --into nowhere")
    }

    @Test func `a name that is none`() async throws {
        let outcome = try await desk.run("watch", "--into", "inbox", "../Recipes")
        #expect(outcome.status == .exited(64))
        #expect(outcome.complaints.count == 2)
    }
}
