import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `receive --model`, `--schema-digest`, `--user-version` and `--probe`.
@Suite struct RequirementTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func makeCoreDataStore() throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        try sample.addPhoto(
            key: 1, content: Data((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }))
    }

    /// A `.momd` whose versions have these entities.
    private func makeModel(_ name: String, _ versions: [String: [String: Data]]) throws {
        try PlatformCalls.makeFolder(desk[name])
        let list = try PropertyListSerialization.data(
            fromPropertyList: [
                "NSManagedObjectModel_CurrentVersionName": versions.keys.sorted().last ?? "",
                "NSManagedObjectModel_VersionHashes": versions,
            ] as [String: Any], format: .binary, options: 0)
        try list.write(to: URL(fileURLWithPath: desk[name].appending("VersionInfo.plist").string))
    }

    private static let newer = ["Recipe": Data(0..<32), "Photo": Data(repeating: 7, count: 32), "Tag": Data(0..<32)]

    @Test func `a store of another model is refused before a block of it is sent`() async throws {
        try makeCoreDataStore()
        try makeModel("Newer.momd", ["2": Self.newer])
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--model", "Newer.momd", "--json")
        let sent = try await desk.run("send", "Photos.sqlite", "--to", receiver.address)
        sent.expectFailure(
            65, "the receiver refused the shipment: the store's model is not 2: removed Tag; changed Photo",
            hint: "update the reader there, or send a store of the model that it knows")
        let told = try await receiver.program.waitForLine(containing: "not installed: ")
        // The time and the session stand before it.
        #expect(told.hasSuffix("] not installed: the store's model is not 2: removed Tag; changed Photo"))
        let stopped = try await receiver.stop()
        #expect(try stopped.eventNames() == ["listening", "connected", "offered", "failed"])
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".failed", ".format", ".lock"])
        #expect(try desk.leftovers == [])
    }

    @Test func `through a pipe it is refused before anything is staged`() async throws {
        try makeCoreDataStore()
        try makeModel("Newer.momd", ["2": Self.newer])
        try await desk.run("send", "Photos.sqlite", "--to", "1.shipment").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "1.shipment", "--model", "Newer.momd").expectFailure(
            65, "the store's model is not 2: removed Tag; changed Photo",
            hint: "update the reader, and name its new model with --model")
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".failed", ".format", ".lock"])
    }

    @Test func `any version of any model will do, and is told`() async throws {
        try makeCoreDataStore()
        try makeModel("Recipes.momd", ["1": CoreDataSample.versionHashes, "2": Self.newer])
        try makeModel("Others.momd", ["1": ["Song": Data(0..<32)]])
        try await desk.run("send", "Photos.sqlite", "--to", "1.shipment").expectSuccess()
        let received = try await desk.run(
            "receive", "--into", "inbox", "--from", "1.shipment", "--model", "Others.momd", "--model", "Recipes.momd")
        received.expectSuccess()
        #expect(received.stderr.contains("the store's model is 1\n"))
        #expect(try desk.hasInstalled("Photos", from: "Photos.sqlite"))
    }

    @Test func `a store of some of the entities is welcome with --model-subset`() async throws {
        try makeCoreDataStore()
        try makeModel("All.momd", ["1": CoreDataSample.versionHashes.merging(["Tag": Data(0..<32)]) { $1 }])
        try await desk.run("send", "Photos.sqlite", "--to", "1.shipment").expectSuccess()
        let receive = ["receive", "--into", "inbox", "--from", "1.shipment", "--model", "All.momd"]
        #expect(try await desk.run(receive).status == .exited(65))
        try await desk.run(receive + ["--model-subset"]).expectSuccess()
    }

    @Test func `a store that Core Data has not made is of no model`() async throws {
        try desk.makeStore()
        try makeModel("Recipes.momd", ["1": CoreDataSample.versionHashes])
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--model", "Recipes.momd", "--once")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectFailure(
            65,
            "the receiver refused the shipment: the store is no Core Data store, or does not say what its entities are",
            hint: "update the reader there, or send a store of the model that it knows")
        try await receiver.program.wait().expectFailure(
            65, "the store is no Core Data store, or does not say what its entities are",
            hint: "receive without --model what Core Data has not made")
    }

    @Test func `a model that cannot be read is an error before anybody is listened to`() async throws {
        _ = try await desk.shell("mkfifo pipe; ln -s nowhere link; echo hello > hello")
        let receive = ["receive", "--into", "inbox", "--listen", "127.0.0.1:0", "--model"]
        let hint = "name a .momd, its VersionInfo.plist, or a JSON of entity hashes"
        try await desk.run(receive + ["nowhere.momd"]).expectFailure(
            66, "there is no model at nowhere.momd", hint: hint)
        for path in ["pipe", "link"] {
            try await desk.run(receive + [path]).expectFailure(
                65, "\(path) is neither a file nor a folder", hint: "name the model itself, not a link to it")
        }
        try await desk.run(receive + ["hello"]).expectFailure(
            65, "hello cannot be read as a model: it is neither a property list nor JSON", hint: hint)
        #expect((try? PlatformCalls.status(of: desk["inbox"])) == nil)
    }

    @Test func `another schema or user_version is refused`() async throws {
        try desk.makeStore()
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "PRAGMA user_version = 8")
        try await desk.run("send", "Recipes.sqlite", "--to", "1.shipment").expectSuccess()
        let receive = ["receive", "--into", "inbox", "--from", "1.shipment"]
        try await desk.run(receive + ["--user-version", "5..7"]).expectFailure(
            65, "the store's user_version is 8, not 5 to 7",
            hint: "update the reader, and say what it takes with --user-version")
        try await desk.run(receive + ["--user-version", "8..9"]).expectSuccess()
        let list = try await desk.run("list", "--into", "inbox", "--json").objects()
        let digest = try #require(list.first?["schemaSHA256"] as? String)
        let other = String(repeating: "0", count: 64)
        try await desk.run(receive + ["--schema-digest", other]).expectFailure(
            65, "the store's schema has the digest \(digest), which is not among those required",
            hint: "update the reader, and name that digest too with --schema-digest")
        try await desk.run(receive + ["--schema-digest", other, "--schema-digest", digest.uppercased()]).expectSuccess()

        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--user-version", "7")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectFailure(
            65, "the receiver refused the shipment: the store's user_version is 8, not 7",
            hint: "update the reader there, or send a store of a schema that it knows")
        try await receiver.stop().expectSuccess()
    }

    @Test func `a store that does not answer with yes does not become current, and the next one that does`()
        async throws
    {
        try desk.makeStore()
        let probe = "SELECT count(*) = 0 FROM recipe WHERE title IS NULL"
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--probe", "SELECT 1", "--probe", probe)
        let send = ["send", "Recipes.sqlite", "--to", receiver.address]
        try await desk.run(send).expectSuccess()
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES (NULL)")
        try await desk.run(send).expectFailure(
            65, "the receiver refused the shipment: the probe `\(probe)` gave 0, which is not true",
            hint: "the store there stays as it was; look into this one with `ship-store inspect`")
        #expect(
            try await desk.run("list", "--into", "inbox").lines.map { $0.prefix(10) }
                == ["   name   ", "*  Recipes", "   install"])
        #expect(try desk.leftovers == [])
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = 'Pie' WHERE title IS NULL")
        let sent = try await desk.run(send).expectSuccess()
        #expect(sent.stderr.contains("installed Recipes as generation 2: "))
        try await receiver.stop().expectSuccess()
    }

    @Test func `a probe of a table that is not there fails through a pipe too`() async throws {
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "1.shipment").expectSuccess()
        try await desk.run(
            "receive", "--into", "inbox", "--from", "1.shipment", "--probe", "SELECT * FROM soup"
        ).expectFailure(
            65, "the probe `SELECT * FROM soup` failed: no such table: soup",
            hint: "what was current stays; look into the store with `ship-store inspect`, or drop the probe")
        #expect(try await desk.run("list", "--into", "inbox").stdout == "")
        #expect(try desk.leftovers == [])
    }
}
