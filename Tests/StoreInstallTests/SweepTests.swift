import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// What happens to an inbox when a receiver takes it over, and after each installation.
@Suite struct SweepTests {
    private let inbox: InboxContent

    init() throws { inbox = try InboxContent() }

    private func install(_ stores: String..., keeping kept: Int = 3) async throws {
        let installer = try inbox.installer(keeping: kept)
        for store in stores { try await Shipment(store).install(with: installer) }
    }

    /// A folder that looks like a generation.
    private func makeGeneration(_ name: String) throws {
        try PlatformCalls.makeFolder(inbox.store.appending("generations").appending(name))
    }

    @Test func `the newest generations stay, as many as are to be kept`() async throws {
        try await install("1", "2", "3", "4", "5", keeping: 2)
        #expect(inbox.numbers == [4, 5])
        try await install("6", keeping: 1)
        #expect(inbox.numbers == [6])
        try await install("7", keeping: 0)
        #expect(inbox.numbers == [7])
        try await install("8", "9", "10", keeping: 1000)
        #expect(inbox.numbers == [7, 8, 9, 10])
        #expect(inbox.staging == [])
    }

    @Test func `the current generation stays although it is old`() async throws {
        try await install("1", "2", "3")
        let first = try #require(inbox.generations.first)
        try PlatformCalls.removeFile(inbox.store.appending("current"))
        try PlatformCalls.symbolicLink(at: inbox.store.appending("current"), to: FilePath("generations/\(first)"))
        let name = try #require(StoreName("Recipes"))
        try StoreLock(of: name, in: Inbox(at: inbox.root)).prune(Retention(count: 2, grace: .zero))
        #expect(inbox.numbers == [1, 3])
        try StoreLock(of: name, in: Inbox(at: inbox.root)).prune(Retention(count: 1, grace: .zero))
        #expect(inbox.numbers == [1])
        #expect(inbox.text("Recipes.sqlite") == "1")
    }

    @Test func `a receiver that keeps fewer prunes when it starts`() async throws {
        try await install("1", "2", "3")
        _ = try inbox.installer(keeping: 1)
        #expect(inbox.numbers == [3])
    }

    @Test func `a store that vanishes meanwhile keeps no other one from being swept`() async throws {
        let litter = UUID().uuidString
        do {
            let installer = try inbox.installer()
            try await Shipment("1", name: "Aardvarks").install(with: installer)
            try await Shipment("1").install(with: installer)
        }
        try PlatformCalls.makeFolder(inbox.store.appending("staging").appending(litter))
        let name = try #require(StoreName("Aardvarks"))
        let storeLock = try StoreLock(of: name, in: Inbox(at: inbox.root))
        let content = inbox
        // It has listed both stores when it waits for the first one.
        let starting = Task.detached { _ = try content.installer() }
        try await Task.sleep(for: .milliseconds(200))
        try PlatformCalls.rename(
            inbox.store.removingLastComponent().appending("Aardvarks"), to: inbox.root.appending("moved"))
        _ = consume storeLock
        try await starting.value
        #expect(inbox.staging == [])
        #expect(inbox.text("Recipes.sqlite") == "1")
    }

    @Test func `what was being staged goes`() async throws {
        try await install("1")
        let staging = inbox.store.appending("staging")
        try PlatformCalls.makeFolder(staging.appending("half"))
        try OpenFile.creating(staging.appending("half").appending("Recipes.sqlite")).write([1, 2, 3])
        try PlatformCalls.symbolicLink(at: staging.appending("current-1"), to: "../generations")
        _ = try inbox.installer()
        #expect(inbox.staging == [])
        #expect(inbox.numbers == [1])
    }

    @Test func `generations that never became current go`() async throws {
        try await install("1", "2")
        for name in ["3-00000000", "17-12345678"] { try makeGeneration(name) }
        _ = try inbox.installer()
        #expect(inbox.numbers == [1, 2])
        #expect(inbox.text("Recipes.sqlite") == "2")
    }

    @Test func `links that are missing are made again`() async throws {
        let shipment = try Shipment("1", files: [1: "one"])
        do { try await shipment.install(with: try inbox.installer()) }
        for name in ["Recipes.sqlite", ".Recipes_SUPPORT"] { try PlatformCalls.removeFile(inbox.root.appending(name)) }
        _ = try inbox.installer()
        #expect(inbox.names == [".Recipes_SUPPORT", ".ship-store", "Recipes.sqlite"])
        #expect(inbox.text("Recipes.sqlite") == "1")
    }

    @Test func `a first shipment that never became current leaves nothing`() async throws {
        do { try await Shipment("1", files: [1: "one"]).install(with: try inbox.installer()) }
        for path in [inbox.store.appending("current"), inbox.root.appending("Recipes.sqlite")] {
            try PlatformCalls.removeFile(path)
        }
        _ = try inbox.installer()
        #expect(inbox.numbers == [])
        #expect(inbox.names == [".ship-store"])
    }

    @Test func `a first generation that had its public name was current, and stays`() async throws {
        do { try await Shipment("1").install(with: try inbox.installer()) }
        try PlatformCalls.removeFile(inbox.store.appending("current"))
        _ = try inbox.installer()
        #expect(inbox.numbers == [1])
        do {
            let storeLock = try StoreLock(of: try #require(StoreName("Recipes")), in: Inbox(at: inbox.root))
            try storeLock.take(storeLock.step(to: nil), at: try #require(Timestamp("2026-11-20T12:00:00Z")))
        }
        #expect(inbox.text("Recipes.sqlite") == "1")
    }

    @Test(arguments: ["origin.json", "rollback.json"])
    func `where a record says that there was more the generations stay`(record: String) async throws {
        do { try await Shipment("1").install(with: try inbox.installer()) }
        try PlatformCalls.removeFile(inbox.store.appending("current"))
        _ = try OpenFile.creating(inbox.store.appending(record))
        _ = try inbox.installer()
        #expect(inbox.numbers == [1])
    }

    @Test(arguments: ["", "{", "[]", "{\"name\":\"x\"}", String(repeating: " ", count: 5_000_000)])
    func `a current generation whose manifest cannot be read stays, and the next shipment replaces it`(
        text: String
    ) async throws {
        try await install("1", "2")
        let manifest = inbox.store.appending("current").appending("manifest.json")
        try PlatformCalls.changeMode(of: manifest, to: .ownerReadWrite)
        try Data(text.utf8).write(to: URL(fileURLWithPath: manifest.string))
        let name = try #require(StoreName("Recipes"))
        #expect(throws: InboxError.self) { try Inbox(at: inbox.root).current(of: name) }
        let installer = try inbox.installer()
        #expect(inbox.numbers == [1, 2])
        let third = try await Shipment("2").install(with: installer)
        #expect(third.number == 3)
        #expect(inbox.text("Recipes.sqlite") == "2")
    }

    @Test func `names that only look like generations are no generations`() {
        for number in [
            "", "-1", "01", "+1", "0", " 1", "9223372036854775808", "１", String(repeating: "9", count: 99), "a",
        ] {
            #expect(GenerationName(number + "-0123abcd") == nil, "\(number)")
        }
        for digest in [
            "", "0123abc", "0123abcde", "0123ABCD", "0123abc\n", "0123abc/", "0123abcd-1", "0123abc\u{0}", "01２abcd",
        ] {
            #expect(GenerationName("1-" + digest) == nil, "\(digest)")
        }
        #expect(GenerationName("9007199254740992-0123abcd") == nil)
        #expect(GenerationName("9007199254740991-0123abcd")?.number == Limits.generation)
    }

    @Test func `strange things among the generations do not stop anybody`() async throws {
        try await install("1")
        let generations = inbox.store.appending("generations")
        try PlatformCalls.symbolicLink(at: generations.appending("5-00000000"), to: "/")
        try PlatformCalls.symbolicLink(at: generations.appending("6-00000000"), to: "nowhere")
        _ = try OpenFile.creating(generations.appending("7-00000000"))
        _ = try OpenFile.creating(generations.appending("notes.txt"))
        try makeGeneration("999999999999999999-00000000")
        for name in ["-rf", "1-\n", "x"] { try makeGeneration(name) }
        let installer = try inbox.installer()
        #expect(inbox.numbers == [1])
        #expect(try await Shipment("2").install(with: installer).number == 2)
        #expect(FileManager.default.fileExists(atPath: "/usr"))
        #expect(inbox.generations.contains("notes.txt"))
        #expect(inbox.staging == [])
    }

    @Test func `links where folders should be lead nobody out of the inbox`() async throws {
        let outside = try inbox.scratch.folder("outside")
        _ = try OpenFile.creating(outside.appending("precious"))
        try await install("1")
        let staging = inbox.store.appending("staging")
        try PlatformCalls.removeEmptyFolder(staging)
        try PlatformCalls.symbolicLink(at: staging, to: outside)
        _ = try? inbox.installer()
        #expect(try Folder.names(in: outside) == ["precious"])
    }

    @Test(arguments: ["file", "folder", "absolute", "elsewhere", "too deep"])
    func `something else in the place of current is not judged`(kind: String) async throws {
        try await install("1", "2")
        let current = inbox.store.appending("current")
        let target = try PlatformCalls.targetOfSymbolicLink(at: current)
        try PlatformCalls.removeFile(current)
        switch kind {
        case "file": _ = try OpenFile.creating(current)
        case "folder": try PlatformCalls.makeFolder(current)
        case "absolute": try PlatformCalls.symbolicLink(at: current, to: inbox.store.pushing(target))
        case "elsewhere": try PlatformCalls.symbolicLink(at: current, to: "elsewhere")
        default: try PlatformCalls.symbolicLink(at: current, to: FilePath("a/\(target)"))
        }
        _ = try inbox.installer()
        #expect(inbox.numbers == [1, 2])
    }

    @Test func `an unreadable list of stores is an error, and no trap`() throws {
        try PlatformCalls.makeFolder(inbox.root)
        _ = try OpenFile.creating(inbox.root.appending(".ship-store"))
        #expect(throws: InboxError.self) { try inbox.installer() }
        #expect(throws: InboxError.self) { try Inbox(at: inbox.root).storeNames() }
        let nowhere = Inbox(at: inbox.root.appending("nowhere"))
        #expect(throws: InboxError.self) { try nowhere.storeNames() }
    }
}
