import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Publications whose way to the newest state leads through states that a receiver does not take.
@Suite struct PublishedWayTests {
    private func publish(_ desk: Desk) async throws {
        try await desk.run("send", "Recipes.sqlite", "--to", "dir:public/kitchen").expectSuccess()
    }

    @Test(arguments: [[], ["--meta", "a=b"], ["--exclude", "tag"]])
    func `a state that a receiver refuses keeps nobody from a later one`(options: [String]) async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 2000)
        try desk.execute("CREATE TABLE tag(name); INSERT INTO tag VALUES ('sweet')", in: "Recipes.sqlite")
        func publish() async throws {
            try await desk.run(["send", "Recipes.sqlite", "--to", "dir:public/kitchen"] + options).expectSuccess()
        }
        func isInstalled(_ inbox: String) throws -> Bool {
            if options.first == "--exclude" { try desk.execute("DELETE FROM tag", in: "Recipes.sqlite") }
            return try desk.hasInstalled("Recipes", in: inbox, from: "Recipes.sqlite")
        }
        try await publish()
        func receive(_ inbox: String, _ required: String...) async throws -> ChildProgram.Outcome {
            try await desk.run(["receive", "--into", inbox, "--from", "dir:public/kitchen"] + required)
        }
        let probe = "SELECT count(*) = 0 FROM recipe WHERE title = 'bad'"
        try await receive("inbox", "--probe", probe).expectSuccess()
        for title in ["good", "bad", "worse", "mended"] {
            try desk.execute("UPDATE recipe SET title = '\(title)' WHERE id = 1", in: "Recipes.sqlite")
            try await publish()
            if title == "bad" { #expect(try await receive("inbox", "--probe", probe).status == .exited(65)) }
        }
        try await receive("inbox", "--probe", probe).expectSuccess()
        #expect(try isInstalled("inbox"))
        // Neither the one that was refused nor one of the temporary inbox has become current.
        #expect(try await desk.run("list", "--into", "inbox", "--json").objects().count == 3)
        try desk.execute("ALTER TABLE recipe ADD COLUMN stars; PRAGMA user_version = 7", in: "Recipes.sqlite")
        try await publish()
        try await receive("new", "--user-version", "7").expectSuccess()
        #expect(try isInstalled("new"))
        #expect(try desk.leftovers == [])
    }

    @Test func `what an operator lets come in again comes with the next look, and nothing before`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 200)
        func look() async throws -> ChildProgram.Outcome {
            try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen")
        }
        func goBack(_ options: [String]) async throws {
            try await desk.run(["rollback", "Recipes", "--into", "inbox"] + options).expectSuccess()
        }
        for title in ["Pie", "Soup"] {
            try desk.execute("UPDATE recipe SET title = '\(title)' WHERE id = 1", in: "Recipes.sqlite")
            try await publish(desk)
            try await look().expectSuccess()
        }
        for (options, words) in [([], "holds it there"), (["--release"], "went back from this very store")] {
            try await goBack(options)
            let outcome = try await look()
            #expect(outcome.status == .exited(73) && outcome.stderr.contains(words), "\(outcome.stderr)")
            #expect(try !desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        }
        try await goBack(["--allow-again"])
        let again = try await look().expectSuccess()
        #expect(again.stderr.contains("generation 2"))
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        // What came last is damaged meanwhile, and the next step builds on it.
        try await goBack([])
        try await goBack(["--allow-again"])
        let last = desk["inbox/.ship-store/Recipes/generations"].appending(
            try #require(
                try Folder.names(in: desk["inbox/.ship-store/Recipes/generations"]).first { $0.hasPrefix("2-") }))
        try PlatformCalls.changeMode(of: last.appending("Recipes.sqlite"), to: .ownerReadWrite)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: last.appending("Recipes.sqlite").string))
        try file.seek(toOffset: 5000)
        try file.write(contentsOf: Data("damage".utf8))
        try file.close()
        try desk.execute("UPDATE recipe SET title = 'Tea' WHERE id = 1", in: "Recipes.sqlite")
        try await publish(desk)
        try await look().expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test func `a store whose tables are replaced one after the other comes to who has none`() async throws {
        let desk = try Desk()
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "CREATE TABLE t0(a); INSERT INTO t0 VALUES (1)")
        try await publish(desk)
        for number in 1...12 {
            try desk.execute(
                "CREATE TABLE t\(number)(a); INSERT INTO t\(number) VALUES (\(number)); DROP TABLE IF EXISTS \"t\(number - 2)\"",
                in: "Recipes.sqlite")
            try await publish(desk)
            try await desk.run("receive", "--into", "\(number)", "--from", "dir:public/kitchen").expectSuccess()
            #expect(try desk.hasInstalled("Recipes", in: "\(number)", from: "Recipes.sqlite"))
        }
    }

    @Test func `what is too large on the way, or another store, is no obstacle, and nothing on the way is replaced`()
        async throws
    {
        let desk = try Desk()
        func publish(_ sql: String, _ options: String...) async throws {
            try desk.execute(sql, in: "Recipes.sqlite")
            try await desk.run(["send", "Recipes.sqlite", "--to", "dir:public/kitchen"] + options).expectSuccess()
        }
        func receive(_ options: String...) async throws -> ChildProgram.Outcome {
            try await desk.run(["receive", "--into", "inbox", "--from", "dir:public/kitchen"] + options)
        }
        let sample = try CoreDataSample(at: desk["Recipes.sqlite"])
        _ = try sample.addEverything()
        try await publish("CREATE TABLE note(a); INSERT INTO note VALUES (hex(randomblob(200000)))")
        try await receive().expectSuccess()
        try await publish("INSERT INTO note VALUES (hex(randomblob(400000)))")
        try await publish("DELETE FROM note WHERE length(a) > 500000; VACUUM")
        try await receive("--max-store", "1M").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let uuid = "SELECT Z_UUID FROM Z_METADATA"
        let first = try #require(
            try await TestStore.open(desk["Recipes.sqlite"]).read { try String.fetchOne($0, sql: uuid) })
        for identity in ["00000000-0000-0000-0000-000000000002", "00000000-0000-0000-0000-000000000003", first] {
            try await publish("UPDATE Z_METADATA SET Z_UUID = '\(identity)'", "--replace")
        }
        try await receive().expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        for number in 4...6 {
            try await publish(
                "UPDATE Z_METADATA SET Z_UUID = '00000000-0000-0000-0000-00000000000\(number)'", "--replace")
        }
        #expect(try await receive().status == .exited(73))
        try await receive("--replace", "Recipes").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `a store in the place of another comes to who has none`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 2000)
        try await publish(desk)
        let receive = ["receive", "--from", "dir:public/kitchen", "--into"]
        try await desk.run(receive + ["inbox"]).expectSuccess()
        try await desk.shell("rm Recipes.sqlite*").expectSuccess()
        try TestStore.make(
            at: desk["Recipes.sqlite"], sql: "CREATE TABLE drink(name); INSERT INTO drink VALUES ('tea')")
        try await desk.run("send", "Recipes.sqlite", "--to", "dir:public/kitchen", "--replace").expectSuccess()
        try await desk.run(receive + ["new"]).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "new", from: "Recipes.sqlite"))
        #expect(try await desk.run(receive + ["inbox"]).status == .exited(73))
        try await desk.run(receive + ["inbox", "--replace", "Recipes"]).expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }
}
