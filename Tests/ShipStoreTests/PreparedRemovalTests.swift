import ShipStore
import StoreFiles
import StoreOperations
import SystemPackage
import TestSupport
import Testing

/// What one command has prepared to remove a store, while another one is at work on the same store.
@Suite struct PreparedRemovalTests {
    private let scratch: ScratchFolder
    private let home: StoreHome
    private let prepared: FilePath
    private var options = CopyOptions()

    init() throws {
        scratch = try ScratchFolder()
        home = StoreHome(try PlatformCalls.realPath(of: scratch.path).appending("Recipes.sqlite"))
        prepared = home.folder.appending(".ship-store-removal-Recipes.sqlite")
        options.busyTimeout = .milliseconds(200)
        options.temporaryFolder = try scratch.folder("temporary")
    }

    @Test func `another destroy leaves it until the store is its own`() async throws {
        try SampleStore.plain.make(at: home.path)
        let store = LocalStore(home.path, options: options)
        do {
            let hold = try ExclusiveHold(on: home, BusyHandler(busyTimeout: .seconds(10)))
            defer { withExtendedLifetime(hold) {} }
            try StoreRemoval(of: home).prepare()
            await #expect(throws: ShipmentError.operation(.inUse(home.path, waited: options.busyTimeout))) {
                try await store.destroy()
            }
            #expect(try PlatformCalls.isThere(prepared))
        }
        // Who prepared it was killed.
        try await store.destroy()
        #expect(try Folder.names(in: home.folder) == ["temporary"])
    }

    @Test func `an update of a copy leaves it`() async throws {
        let source = try scratch.folder("source").appending("Recipes.sqlite")
        try SampleStore.plain.make(at: source)
        let name = try CopyFileName("Recipes")
        _ = try await LocalCopy.take(of: source, into: home.folder, as: name, options: options)
        try StoreRemoval(of: home).prepare()
        _ = try await LocalCopy.take(of: source, into: home.folder, as: name, options: options)
        #expect(try PlatformCalls.isThere(prepared))
    }
}
