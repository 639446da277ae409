import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `metadata`, and what becomes of what it sets.
@Suite struct MetadataCommandTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func metadata(_ outcome: ChildProgram.Outcome) throws -> [String: Any] {
        outcome.expectSuccess()
        return try #require(try outcome.objects().first)
    }

    @Test func `a Core Data store is described`() async throws {
        try CoreDataSample(at: desk["Photos.sqlite"]).addHistory(transactions: 9)
        let outcome = try await desk.run("metadata", "Photos.sqlite").expectSuccess()
        #expect(outcome.stderr == "")
        #expect(outcome.lines.contains("identity       \(CoreDataSample.identity)"))
        #expect(outcome.lines.contains("Core Data      type SQLite, framework 1414"))
        #expect(outcome.lines.contains("history token  9"))
        #expect(outcome.lines.filter { $0.hasPrefix("entity  ") }.count == 2)
        let object = try metadata(try await desk.run("metadata", "Photos.sqlite", "--json"))
        #expect(object["historyToken"] as? Int == 9)
        #expect((object["sqlite"] as? [String: Any])?["journal"] as? String == "wal")
    }

    @Test(arguments: [true, false])
    func `what is set travels, and gives way to what is said of a shipment`(isCoreData: Bool) async throws {
        if isCoreData { _ = try CoreDataSample(at: desk["Recipes.sqlite"]) } else { try desk.makeStore() }
        let set = try await desk.run(
            "metadata", "Recipes.sqlite", "--set", "app=4.2", "--set", "note=a=b", "--set", "old=x", "--json")
        #expect(try metadata(set)["metadata"] as? [String: String] == ["app": "4.2", "note": "a=b", "old": "x"])
        let unset = try await desk.run("metadata", "Recipes.sqlite", "--unset", "old")
        #expect(
            unset.lines.filter { $0.hasPrefix("metadata ") } == ["metadata       app=4.2", "metadata       note=a=b"])

        try await desk.run("send", "Recipes.sqlite", "--to", "./a", "--meta", "app=5", "--meta", "by=me")
            .expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./a").expectSuccess()
        let listed = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(listed.first?["metadata"] as? [String: String] == ["app": "5", "by": "me", "note": "a=b"])
        let copied = try await desk.run("copy", "Recipes.sqlite", "--to", "copies", "--json").objects()
        let path = try #require(copied.first?["path"] as? String)
        let copy = try metadata(try await desk.run("metadata", path, "--json"))
        #expect(copy["metadata"] as? [String: String] == ["app": "4.2", "note": "a=b"])
        #expect(try desk.leftovers == [])
    }

    /// Root may read everything, so it gives up that right.
    @Test func `a store in a folder that may not be read takes pairs`() async throws {
        try PlatformCalls.makeFolder(desk["drop"])
        try desk.makeStore("drop/Recipes.sqlite")
        try PlatformCalls.changeMode(of: desk["drop"], to: [.ownerWrite, .ownerExecute])
        let plain = "$SHIP metadata drop/Recipes.sqlite --set app=4.2"
        let isRoot = PlatformCalls.effectiveUser == 0
        let outcome = try await desk.shell(
            isRoot ? "setpriv --bounding-set=-dac_override,-dac_read_search " + plain : plain)
        try PlatformCalls.changeMode(of: desk["drop"], to: .ownerReadWriteExecute)
        outcome.expectSuccess()
        #expect(outcome.lines.contains("metadata       app=4.2"))
    }

    @Test func `what is unset leaves nothing of ours behind`() async throws {
        try desk.makeStore()
        let before = try StoreContent(of: desk["Recipes.sqlite"])
        for removed in [["--unset", "a", "--unset", "b"], ["--unset", "a"], ["--unset", "b"]] {
            if removed.count > 2 || removed.last == "a" {
                try await desk.run("metadata", "Recipes.sqlite", "--set", "a=1", "--set", "b=2", "-q").expectSuccess()
            }
            try await desk.run(["metadata", "Recipes.sqlite", "-q"] + removed).expectSuccess()
        }
        #expect(try StoreContent(of: desk["Recipes.sqlite"]) == before)
        // A table of that name that somebody else has made, or that something else needs, stays.
        for others in [
            "CREATE TABLE ship_store_metadata(key TEXT PRIMARY KEY, value TEXT NOT NULL)",
            """
            CREATE TABLE ship_store_metadata(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
            CREATE VIEW pairs AS SELECT * FROM ship_store_metadata
            """,
        ] {
            try TestStore.make(at: desk["Recipes.sqlite"], sql: others)
            let before = try StoreContent(of: desk["Recipes.sqlite"])
            try await desk.run("metadata", "Recipes.sqlite", "--unset", "a", "-q").expectSuccess()
            #expect(try StoreContent(of: desk["Recipes.sqlite"]) == before)
            try TestStore.make(
                at: desk["Recipes.sqlite"], sql: "DROP VIEW IF EXISTS pairs; DROP TABLE ship_store_metadata")
        }
    }

    @Test func `errors`() async throws {
        try desk.makeStore()
        try await desk.run("metadata", "None.sqlite", "--set", "a=b")
            .expectFailure(66, "there is no store at None.sqlite", hint: "check the path")
        #expect((try? PlatformCalls.status(of: desk["None.sqlite"])) == nil)
        try await desk.run("metadata", "Recipes.sqlite", "--set", "a=b", "--unset", "a").expectFailure(
            64, "--set and --unset name a more than once", hint: "see `ship-store metadata --help`")
        #expect(try await desk.run("metadata", "Recipes.sqlite", "--set", "a key=b").status == .exited(64))
        try await desk.withLockedStore {
            let outcome = try await desk.run("metadata", "Locked.sqlite", "--set", "a=b", "--busy-timeout", "0.1")
            #expect(outcome.status == .exited(75))
        }
        let many = (0..<64).flatMap { ["--set", "k\($0)=v"] }
        try await desk.run(["metadata", "Recipes.sqlite", "--quiet"] + many).expectSuccess()
        let send = try await desk.run("send", "Recipes.sqlite", "--to", "./a", "--meta", "more=1")
        send.expectFailure(
            64, "the store's metadata and that of the shipment cannot go with it: more than 64 pairs of metadata",
            hint: "give others with --meta, or remove some with `ship-store metadata STORE --unset`")
        try await desk.run("metadata", "Recipes.sqlite", "--set", "more=1")
            .expectFailure(64, "more than 64 pairs of metadata")
    }
}
