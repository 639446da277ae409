import Foundation
import ShipProtocol
import StoreSnapshot
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// When a store is tried again that could not be copied.
@Suite struct AwaitedStoreTests {
    @Test func `a store that is there again is looked at as soon as it has settled`() throws {
        let scratch = try ScratchFolder()
        let path = scratch.path.appending("Recipes.sqlite")
        var following = Following()
        following.keepsTrying = true
        let watched = try WatchedStores(of: Producer(path), following, isShared: false)
        let store = FollowedStore(try #require(watched.all.first), following) { _ in }
        let order = store.follow(ProducerSession.Order { throw SnapshotError.noSuchFile(path) }) {}
        for _ in 0..<6 { order.ended(.failure(.source(.noSuchFile(path)))) }
        // Something else in its folder.
        store.notice()
        #expect(try #require(store.due).at > .now + .seconds(5))
        try SampleStore.plain.make(at: path)
        store.notice()
        #expect(try #require(store.due).at <= .now + following.settling)
        // It is waited for as after a first failure.
        order.ended(.failure(.source(.notADatabase(path))))
        #expect(try #require(store.due).at <= .now + .seconds(1))
        // Its file has been there all the time.
        for _ in 0..<6 { order.ended(.failure(.source(.notADatabase(path)))) }
        store.notice()
        #expect(try #require(store.due).at > .now + .seconds(5))
    }

    @Test func `what an inbox holds when a receiver connects is offered, although no word of it has come yet`()
        async throws
    {
        let scratch = try ScratchFolder()
        let (inbox, filled) = (scratch.path.appending("inbox"), scratch.path.appending("filled"))
        let store = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: store)
        let base = try await LocalCopy.take(
            of: store, into: try scratch.folder("app"), as: CopyFileName("Recipes.base.sqlite"))
        _ = try await Consumer(inbox: filled).adopt(base.path, as: "Recipes")
        try FileManager.default.createDirectory(
            atPath: scratch.path.appending("empty").string, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: inbox.string, withDestinationPath: "empty")
        let watched = try WatchedStores(of: Producer(inbox: inbox), Following(), isShared: true)
        // What is watched is the empty folder, where nothing happens.
        try FileManager.default.removeItem(atPath: inbox.string)
        try FileManager.default.createSymbolicLink(atPath: inbox.string, withDestinationPath: "filled")
        let offered = Mutex<[StoreName]>([])
        let registration = watched.forEach { store in offered.withLock { $0.append(store.name) } }
        #expect(offered.withLock { $0.map(\.text) } == ["Recipes"])
        withExtendedLifetime(registration) {}
    }
}
