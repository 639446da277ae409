import Foundation
import ShipProtocol
import ShipStoreNetwork
import StoreBases
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

@Suite struct RememberedBasesTests {
    private let scratch: ScratchFolder
    private let memory: BaseMemory
    private let store: FilePath

    init() throws {
        scratch = try ScratchFolder()
        memory = BaseMemory(at: scratch.path.appending("bases"))
        store = scratch.path.appending("Recipes.sqlite")
        try TestStore.make(at: store, sql: "CREATE TABLE recipe(title); INSERT INTO recipe VALUES ('Soup')")
    }

    private func bases(_ profile: CopyProfile = CopyProfile()) -> RememberedBases {
        RememberedBases(in: memory, of: store, named: StoreName(suggestedBy: store), profile)
    }

    private func copy() async throws -> PreparedCopy {
        var options = CopyOptions()
        options.temporaryFolder = bases().workingFolder() ?? options.temporaryFolder
        return try await PreparedCopy(of: store, options)
    }

    @Test func `a copy is a base of the next one`() async throws {
        let first = try await copy()
        let manifest = first.manifest
        #expect(bases().acknowledged(manifest, copy: first.path(ofPart: 0), by: "watch", state: [7]) == .remembered)
        try TestStore.make(at: store, sql: "INSERT INTO recipe VALUES ('Bread')")
        let found = bases().bases
        #expect(found.map(\.manifest) == [manifest] && found.first?.state == [7])
        #expect(found.first?.open() != nil)
        #expect(bases().memory.copies(of: bases().key).count == 1)
    }

    @Test func `another store at the same path builds on what was there before`() async throws {
        let first = try await copy()
        bases().acknowledged(first.manifest, copy: first.path(ofPart: 0), by: "watch")
        try PlatformCalls.removeFile(store)
        try TestStore.make(at: store, sql: "CREATE TABLE tea(title); INSERT INTO tea VALUES ('Green')")
        #expect(bases().bases.map(\.manifest) == [first.manifest])
    }

    @Test func `profiles that leave out the same are one, and others are not`() throws {
        func profile(_ change: (inout CopyProfile) -> Void) -> CopyProfile {
            var profile = CopyProfile()
            change(&profile)
            return profile
        }
        let same = [profile { $0.emptiedTables = ["A", "b"] }, profile { $0.emptiedTables = ["B", "a", "A"] }]
        #expect(Set(same.map(\.digest)).count == 1)
        let different =
            [same[0]] + [
                profile { _ in }, profile { $0.leavesOutHistory = true }, profile { $0.longestExternalFile = 0 },
                profile { $0.longestExternalFile = 1 }, profile { $0.emptiedTables = ["ab"] },
                profile { $0.emptiedTables = ["A"] },
            ]
        #expect(Set(different.map(\.digest)).count == different.count)
    }

    @Test func `a damaged memory lets a store go only if the app has a name of its own for it`() async throws {
        var options = Producer.Options()
        options.memory = memory
        let files = (0..<4).map { Endpoint.file(scratch.path.appending("\($0).shipment")) }
        _ = try await Producer(store, options: options).send(to: files[0])
        let index = memory.folder.appending("index.json")
        try Data("x".utf8).write(to: URL(fileURLWithPath: index.string))
        await #expect { try await Producer(store, options: options).send(to: files[1]) } throws: { error in
            guard case .unknownSent(StoreName(suggestedBy: store), .damaged(index, _)) = error as? ShipmentError else {
                return false
            }
            return true
        }
        options.storeKey = "recipes"
        _ = try await Producer(store, options: options).send(to: files[2])
        (options.storeKey, options.replaces) = (nil, true)
        _ = try await Producer(store, options: options).send(to: files[3])
    }

    @Test func `the library remembers nothing unless it is told to`() async throws {
        #expect(Producer.Options().memory == nil)
        #expect(LocalStore(store).memory == nil)
    }
}
