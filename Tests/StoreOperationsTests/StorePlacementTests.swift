import Foundation
import ShipProtocol
import StoreFiles
import StoreOperations
import SystemPackage
import TestSupport
import Testing

@Suite struct StorePlacementTests {
    private let scratch: ScratchFolder
    private let home: StoreHome
    private let copy: FilePath

    init() throws {
        scratch = try ScratchFolder()
        home = StoreHome(try scratch.folder("place").appending("Recipes.sqlite"))
        copy = try scratch.folder("copy").appending("store")
        try OpenFile.creating(copy).write(Array(repeating: 7, count: 4096))
        try OpenFile.creating(home.path).write(Array(repeating: 6, count: 4096))
    }

    private func manifest(of files: [ExternalFile] = []) throws -> Manifest {
        let facts = StoreFacts(
            size: 4096, sha256: try ContentDigest(ofFile: copy), pageSize: 4096, pageCount: 1, textEncoding: .utf8,
            applicationID: 0, userVersion: 0, schemaSHA256: try ContentDigest(ofFile: copy))
        return Manifest(
            name: try #require(StoreName("Recipes")), createdAt: try #require(Timestamp("2026-01-01T00:00:00Z")),
            producer: Manifest.Software(software: "test", sqlite: "3"), store: facts, externalFiles: files)
    }

    /// The last step fails, as something else has taken the place of the older copy meanwhile.
    @Test func `external files that were replaced come back where the copy cannot be placed`() throws {
        let names = try "AB".map { digit in
            let uuid = "00000000-0000-0000-0000-00000000000\(digit)"
            return try #require(ExternalFileName(folder: .externalData, uuid: uuid))
        }
        let files = try names.map { name in
            let path = scratch.path.appending(name.uuid)
            try OpenFile.creating(path).write(Array("new".utf8))
            return (ExternalFile(name: name, size: 3, sha256: try ContentDigest(ofFile: path)), path)
        }
        // The second one is not there yet.
        let old = home.supportFolder.path(of: names[0])
        try Folder.make(old.removingLastComponent())
        try OpenFile.creating(old).write(Array("old".utf8))
        let identity = try PlatformCalls.status(of: old).identity
        let manifest = try manifest(of: files.map(\.0))
        let placement = StorePlacement(
            at: home, over: (identity: try PlatformCalls.status(of: copy).identity, files: [names[0]]))
        #expect(throws: OperationError.occupied(home.path)) {
            try placement.place(
                manifest, store: copy, files: files.map { (file: $0.0, path: $0.1) },
                beside: SupportFolderClaims(of: [], under: nil))
        }
        #expect(try home.supportFolder.names() == [names[0]])
        #expect(FileManager.default.contents(atPath: old.string) == Data("old".utf8))
        #expect(try PlatformCalls.status(of: old).identity == identity)
        #expect(FileManager.default.contents(atPath: home.path.string)?.first == 6)
        #expect(try Folder.names(in: home.folder) == [".Recipes_SUPPORT", "Recipes.sqlite"])
    }

    @Test func `what takes the place of a damaged store that is waited for stays`() async throws {
        let manifest = try manifest()
        let damaged = DamagedStore(of: home, at: manifest.createdAt)
        let user = try QuietStore(home.path, besideReaders: false, BusyHandler(busyTimeout: .seconds(10)))
        let restore = Task(executorPreference: TestThreads.shared) { [home, copy] () -> OperationError? in
            do throws(OperationError) {
                _ = try StorePlacement(at: home).replace(
                    keeping: damaged, by: manifest, store: copy, files: [],
                    beside: SupportFolderClaims(of: [], under: nil), BusyHandler(busyTimeout: .seconds(30)))
                return nil
            } catch {
                return error
            }
        }
        let (kept, patience) = (damaged.folder.appending("Recipes.sqlite"), ContinuousClock.now + .seconds(10))
        while try !PlatformCalls.isThere(kept), .now < patience { try await Task.sleep(for: .milliseconds(2)) }
        let other = scratch.path.appending("other")
        try OpenFile.creating(other).write([5])
        try PlatformCalls.rename(other, to: home.path)
        _ = consume user
        #expect(await restore.value == .occupied(home.path))
        #expect(FileManager.default.contents(atPath: home.path.string) == Data([5]))
        #expect(FileManager.default.contents(atPath: kept.string)?.first == 6)
    }
}
