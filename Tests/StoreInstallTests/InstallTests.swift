import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

@Suite struct InstallTests {
    private let inbox: InboxContent

    init() throws { inbox = try InboxContent() }

    @Test func `a shipment is found under its public names, and in a folder of its own`() async throws {
        let installer = try inbox.installer()
        let shipment = try Shipment("store", files: [1: "one", 2: ""])
        let generation = try await shipment.install(with: installer)
        #expect(generation.number == 1)
        #expect(inbox.text("Recipes.sqlite") == "store")
        #expect(inbox.text("\(InboxContent.supportFolder)/\(try Shipment.fileName(1).uuid)") == "one")
        #expect(inbox.text("\(InboxContent.supportFolder)/\(try Shipment.fileName(2).uuid)") == "")
        #expect(inbox.current == "generations/1-\(shipment.manifest.store.sha256.short)")
        #expect(inbox.names == [".Recipes_SUPPORT", ".ship-store", "Recipes.sqlite"])
        #expect(inbox.staging == [])
        #expect(try Inbox(at: inbox.root).current(of: shipment.manifest.name) == generation)
    }

    @Test func `folders are their owner's, and files cannot be written`() async throws {
        try await Shipment("store", files: [1: "one"]).install(with: try inbox.installer())
        let names = try FileManager.default.subpathsOfDirectory(atPath: inbox.root.string)
        for name in names + [""] {
            let status = try PlatformCalls.status(of: inbox.root.pushing(FilePath(name)))
            switch status.kind {
            case .folder: #expect(status.permissions.rawValue == 0o700, "\(name)")
            case .file where name.hasSuffix(".lock"): #expect(status.permissions.rawValue == 0o600, "\(name)")
            case .file: #expect(status.permissions.rawValue == 0o400, "\(name)")
            default: #expect(status.kind == .symbolicLink, "\(name)")
            }
        }
    }

    @Test func `the next shipment switches everything at once, and gets the next number`() async throws {
        let installer = try inbox.installer()
        try await Shipment("first", files: [1: "one"]).install(with: installer)
        try await Shipment("second", files: [2: "two"]).install(with: installer)
        #expect(inbox.numbers == [1, 2])
        #expect(inbox.text("Recipes.sqlite") == "second")
        #expect(inbox.text("\(InboxContent.supportFolder)/\(try Shipment.fileName(1).uuid)") == nil)
        #expect(inbox.text("\(InboxContent.supportFolder)/\(try Shipment.fileName(2).uuid)") == "two")
    }

    @Test(arguments: ["folder", "pipe", "link"])
    func `whatever is in the place of the current manifest, the next shipment replaces it`(kind: String) async throws {
        let installer = try inbox.installer()
        let path = try await Shipment("first").install(with: installer).path.appending("manifest.json")
        try PlatformCalls.rename(path, to: inbox.scratch.path.appending("manifest.json"))
        switch kind {
        case "folder": try PlatformCalls.makeFolder(path)
        case "pipe": try #require(mkfifo(path.string, 0o600) == 0)
        default: try PlatformCalls.symbolicLink(at: path, to: inbox.scratch.path.appending("manifest.json"))
        }
        #expect(try await Shipment("second").install(with: installer).number == 2)
        #expect(inbox.text("Recipes.sqlite") == "second")
    }

    @Test(arguments: [false, true])
    func `a folder in the place of current goes if it is empty, and is named otherwise`(isEmpty: Bool) async throws {
        let installer = try inbox.installer()
        let current = inbox.store.appending("current")
        try await Shipment("first").install(with: installer)
        try PlatformCalls.removeFile(current)
        try PlatformCalls.makeFolder(current)
        if !isEmpty { try PlatformCalls.makeFolder(current.appending("x")) }
        let second = try Shipment("second")
        if isEmpty {
            try await second.install(with: installer)
            #expect(inbox.text("Recipes.sqlite") == "second")
        } else {
            let error = InboxError.file(FileError(.write, current, .isDirectory))
            await #expect(throws: error) { try await second.install(with: installer) }
        }
    }

    @Test func `when opening it runs, the new generation is current`() async throws {
        let (installer, inbox) = (try inbox.installer(), inbox)
        try await Shipment("first").install(with: installer)
        var seen: String?
        try await Shipment("second").install(with: installer) { generation in
            seen = inbox.text("Recipes.sqlite")
            #expect(generation.number == 2)
        }
        #expect(seen == "second")
    }

    private struct DoesNotOpen: Error {}

    private struct Forbidden: Error {}

    @Test func `in an inbox that others may change no folder is made for a store`() throws {
        let installer = try inbox.installer()
        let depot = inbox.root.appending(".ship-store")
        let name = try #require(StoreName("Recipes"))
        try PlatformCalls.changeMode(of: depot, to: [.ownerReadWriteExecute, .groupReadWriteExecute])
        #expect(throws: InboxError.openToOthers(depot)) { try installer.undisturbed(name) {} }
        #expect(try Folder.names(in: depot) == [".format", ".lock"])
    }

    @Test func `of a first shipment that may not be installed nothing stays`() async throws {
        let installer = try inbox.installer()
        let depot = inbox.root.appending(".ship-store")
        for _ in 0..<3 {
            await #expect(throws: Forbidden.self) {
                _ = try await installer.install(
                    try Shipment("first", files: [1: "one"]).stage(with: installer).seal(),
                    permitting: { throw Forbidden() }
                ) { _ in }
            }
            #expect(try Folder.names(in: depot) == [".format", ".lock"])
        }
        #expect(try await Shipment("second").install(with: installer).number == 1)
    }

    @Test func `a generation that does not open is taken back`() async throws {
        let installer = try inbox.installer()
        try await Shipment("first").install(with: installer)
        let before = inbox.current
        await #expect(throws: DoesNotOpen.self) {
            try await Shipment("second", files: [1: "one"]).install(with: installer) { _ in throw DoesNotOpen() }
        }
        #expect(inbox.current == before)
        #expect(inbox.numbers == [1])
        #expect(inbox.staging == [])
        #expect(inbox.text("Recipes.sqlite") == "first")
        #expect(try await Shipment("third").install(with: installer).number == 2)
    }

    @Test func `the public name of a first generation comes once that is current and opens`() async throws {
        let (installer, inbox) = (try inbox.installer(), inbox)
        try await Shipment("first", files: [1: "one"]).install(with: installer) { _ in
            #expect(inbox.current != nil)
            #expect(inbox.names == [".ship-store"])
        }
        #expect(inbox.names == [".Recipes_SUPPORT", ".ship-store", "Recipes.sqlite"])
    }

    @Test func `a first generation that does not open leaves no link`() async throws {
        let installer = try inbox.installer()
        await #expect(throws: DoesNotOpen.self) {
            try await Shipment("first", files: [1: "one"]).install(with: installer) { _ in throw DoesNotOpen() }
        }
        #expect(inbox.current == nil)
        #expect(inbox.numbers == [])
        #expect(inbox.staging == [])
        #expect(inbox.names == [".ship-store"])
        #expect(try await Shipment("second").install(with: installer).number == 1)
    }

    @Test func `stores of different names stand side by side`() async throws {
        let installer = try inbox.installer()
        try await Shipment("a").install(with: installer)
        try await Shipment("b", name: "Recipes.old").install(with: installer)
        #expect(inbox.text("Recipes.sqlite") == "a")
        #expect(inbox.text("Recipes.old.sqlite") == "b")
        #expect(try Inbox(at: inbox.root).storeNames().map(\.text) == ["Recipes", "Recipes.old"])
    }

    @Test func `who stops while many files are laid out does not wait for all of them`() async throws {
        let installer = try inbox.installer()
        let shipment = try Shipment("first", files: Dictionary(uniqueKeysWithValues: (1...50).map { ($0, "") }))
        let failure = await Task { () -> InboxError? in
            withUnsafeCurrentTask { $0?.cancel() }
            do {
                _ = try shipment.stage(with: installer)
                return nil
            } catch {
                return error as? InboxError
            }
        }.value
        #expect(failure?.isCancellation == true)
        #expect(inbox.staging == [])
    }

    @Test func `a first shipment that comes to nothing leaves no name behind`() async throws {
        let installer = try inbox.installer()
        let shipment = try Shipment("first", files: [1: "one"])
        let depot = inbox.root.appending(".ship-store")
        do {
            let staged = try shipment.stage(with: installer)
            #expect(try Folder.names(in: depot) == [".format", ".lock", "Recipes"])
            withExtendedLifetime(staged) {}
        }
        #expect(try Folder.names(in: depot) == [".format", ".lock"])
        #expect(throws: DoesNotOpen.self) {
            try installer.undisturbed(shipment.manifest.name) { throw DoesNotOpen() }
        }
        #expect(try Folder.names(in: depot) == [".format", ".lock"])
        await #expect(throws: DoesNotOpen.self) {
            _ = try await installer.install(try shipment.stage(with: installer).seal()) { _ in throw DoesNotOpen() }
        }
        #expect(try Folder.names(in: depot) == [".format", ".lock"])
        #expect(inbox.names == [".ship-store"])
        // One that goes leaves another one alone that has begun meanwhile, and what somebody else has put there.
        var going: StagedGeneration? = try shipment.stage(with: installer)
        let other = try shipment.stage(with: installer)
        #expect(going != nil)
        going = nil
        #expect(inbox.staging.count == 1)
        let generation = try await installer.install(try other.seal()) { _ in }
        #expect(generation.number == 1)
        let foreign = inbox.root.appending(".ship-store").appending("Recipes.old")
        try PlatformCalls.makeFolder(foreign)
        try PlatformCalls.makeFolder(foreign.appending("notes"))
        do { _ = try Shipment("b", name: "Recipes.old").stage(with: installer) }
        #expect(try Folder.names(in: foreign) == ["generations", "notes", "staging"])
    }

    @Test(arguments: ["Recipes.sqlite", ".Recipes_SUPPORT"], ["file", "folder", "link elsewhere"])
    func `a public name that somebody else has is refused, and left alone`(name: String, kind: String) async throws {
        let installer = try inbox.installer()
        let path = inbox.root.appending(name)
        switch kind {
        case "file": _ = try OpenFile.creating(path)
        case "folder": try PlatformCalls.makeFolder(path)
        default: try PlatformCalls.symbolicLink(at: path, to: "elsewhere")
        }
        let before = try PlatformCalls.status(of: path)
        let shipment = try Shipment("first", files: [1: "one"])
        #expect(throws: InboxError.occupied(path)) { try installer.plan(for: shipment.manifest) }
        // It may come after the plan, too.
        await #expect(throws: InboxError.occupied(path)) {
            let staged = try shipment.stage(with: installer)
            let sealed = try staged.seal()
            _ = try await installer.install(sealed) { _ in }
        }
        #expect(try PlatformCalls.status(of: path) == before)
        #expect(inbox.current == nil)
        #expect(inbox.numbers == [])
        #expect(inbox.names == [".ship-store", name].sorted())
    }
}
