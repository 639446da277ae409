import ShipProtocol
import StoreSnapshot
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
}
