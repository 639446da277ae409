import Foundation
import SystemPackage
import TestSupport
import Testing

/// `--strip-history`, `--exclude` and `--without-external-over`, of `send` and of `copy`.
@Suite struct ProfileCommandTests {
    private let desk: Desk
    private let sample: CoreDataSample

    init() throws {
        desk = try Desk()
        sample = try CoreDataSample(at: desk["Photos.sqlite"])
    }

    private func manifest(_ outcome: ChildProgram.Outcome) throws -> [String: Any] {
        try #require(try outcome.events().first { $0["event"] as? String == "copied" }?["manifest"] as? [String: Any])
    }

    private func rows(_ table: String, _ manifest: [String: Any]) -> Int? {
        ((manifest["tables"] as? [String: Any])?[table] as? [String: Any])?["rows"] as? Int
    }

    @Test func `what is left out stays out, and stands in the manifest`() async throws {
        try sample.addHistory(transactions: 30)
        let short = try sample.addPhoto(key: 1, content: Data(count: 2000))
        let long = try sample.addPhoto(key: 2, content: Data(count: 2001))
        let receiver = try await desk.listen()
        let arguments = [
            "send", "Photos.sqlite", "--to", receiver.address, "--strip-history", "--exclude", "zrecipe",
            "--without-external-over", "2k", "--json",
        ]
        let outcome = try await desk.run(arguments).expectSuccess()
        #expect(outcome.stderr.contains("left out: the history; the rows of ZRECIPE; 1 external file (2.00 kB)\n"))
        let manifest = try manifest(outcome)
        let omissions = try #require(manifest["omissions"] as? [String: Any])
        #expect(omissions["history"] as? Bool == true)
        #expect(omissions["tables"] as? [String] == ["ZRECIPE"])
        #expect((omissions["externalFiles"] as? [[String: Any]])?.map { $0["name"] as? String } == [long])
        #expect(rows("ACHANGE", manifest) == 0 && rows("ZRECIPE", manifest) == 0 && rows("ZPHOTO", manifest) == 2)

        let installed = try StoreContent(of: desk["inbox/Photos.sqlite"])
        #expect(installed.tables["ACHANGE"] == [] && installed.tables["ZRECIPE"] == [])
        #expect(try installed.tables["ZPHOTO"] == StoreContent(of: desk["Photos.sqlite"]).tables["ZPHOTO"])
        let folder = desk["inbox/.Photos_SUPPORT/_EXTERNAL_DATA"].string
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [short])

        // The same again is the same; without its words it is another shipment, of other rows.
        let again = try await desk.run(arguments)
        #expect(again.stderr.contains("unchanged: "))
        let whole = try await desk.run("send", "Photos.sqlite", "--to", receiver.address, "--json").expectSuccess()
        #expect(try self.manifest(whole)["omissions"] == nil)
        #expect(whole.stderr.contains("as generation 2"))
        try await receiver.stop().expectSuccess()
        try await desk.run("verify", "inbox").expectSuccess()
        #expect(try desk.leftovers == [])
    }

    @Test func `a copy without a table is a store of its own`() async throws {
        let outcome = try await desk.run(
            "copy", "Photos.sqlite", "--to", "copies", "--exclude", "ZRECIPE", "--strip-history"
        ).expectSuccess()
        #expect(outcome.stderr.contains("left out: the rows of ZRECIPE\nthere is no history to leave out\n"))
        let copy = try #require(outcome.lines.first)
        #expect(try StoreContent(of: desk[copy]).tables["ZRECIPE"] == [])
        #expect(try StoreContent(of: desk["Photos.sqlite"]).tables["ZRECIPE"] != [])
        try await desk.run("send", copy, "--to", "./a.shipment").expectSuccess()
    }

    @Test func `a table that is not there is a mistake of the command line`() async throws {
        let unknown = try await desk.run("send", "Photos.sqlite", "--to", "./a", "--exclude", "Recipe")
        unknown.expectFailure(64, "the store has no table Recipe", hint: "did you mean ZRECIPE?")
        let far = try await desk.run("copy", "Photos.sqlite", "--to", "copies", "--exclude", "something")
        far.expectFailure(64, "the store has no table something", hint: "`ship-store inspect STORE` lists its tables")
        let own = try await desk.run("copy", "Photos.sqlite", "--to", "copies", "--exclude", "Z_METADATA")
        own.expectFailure(64, "Z_METADATA is Core Data's own: without its rows the store does not open")
        #expect(try desk.leftovers == [])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: desk.path.string).allSatisfy {
                $0.hasPrefix("Photos.sqlite")
            })
    }

    @Test(arguments: ["many", "-1", "1.5M", "5T", "k", "9999999999G"])
    func `a size that is none is a mistake of the command line`(size: String) async throws {
        let outcome = try await desk.run("copy", "Photos.sqlite", "--to", "copies", "--without-external-over=\(size)")
        #expect(outcome.status == .exited(64))
        #expect(outcome.stderr.contains("a size is a whole number of bytes, or one with k, M or G, as in 500k"))
    }

    @Test(arguments: [("0", 3), ("1k", 2), ("1000", 2), ("999B", 3), ("1MB", 1), ("1000kb", 1), ("1G", 0)])
    func `sizes are decimal`(size: String, omitted: Int) async throws {
        for (key, count) in [1000, 1001, 1_000_001].enumerated() {
            try sample.addPhoto(key: key, content: Data(count: count))
        }
        let outcome = try await desk.run(
            "copy", "Photos.sqlite", "--to", "copies", "--json", "--without-external-over", size
        ).expectSuccess()
        let manifest = try #require(try outcome.objects().first?["manifest"] as? [String: Any])
        let omissions = manifest["omissions"] as? [String: Any]
        #expect((omissions?["externalFiles"] as? [Any])?.count ?? 0 == omitted)
    }
}
