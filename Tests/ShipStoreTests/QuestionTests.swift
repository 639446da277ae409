import Foundation
import ShipProtocol
import StoreFiles
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Which question a shipment answers.
@Suite struct QuestionTests {
    private let scratch: ScratchFolder
    private let path: FilePath
    private let store: FollowedStore

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("Recipes.sqlite")
        try SampleStore.plain.make(at: path)
        let watched = try WatchedStores(of: Producer(path), Following(), isShared: false)
        store = FollowedStore(try #require(watched.all.first), Following()) { _ in }
        store.begin()
    }

    @Test func `a copy answers what was asked before it was begun, and nothing later`() async throws {
        let order = ProducerSession.Order { [path, store] in
            let copy = try await PreparedCopy(of: path, CopyOptions())
            // While the copy is taken.
            store.ask(2)
            return OutgoingShipment(StoreVersion(copy), Producer.Options.inBlocks)
        }
        let followed = store.follow(order) {}
        let first = try await followed.prepare().manifest
        #expect(followed.answer(first) == nil)
        #expect(store.question == 2)
        // This one is begun after the question.
        let second = try await followed.prepare().manifest
        #expect(followed.answer(second) == Newest(answering: 2, ManifestContent(of: second).id))
        #expect(followed.answer(second) == nil)
        // The question that came meanwhile is the same, and has its answer.
        #expect(store.question == nil)
    }

    @Test func `a question that comes while another one is answered stays open`() async throws {
        store.ask(1)
        let looked = try #require(store.question)
        store.ask(2)
        // Nothing has had its receipt in this session.
        #expect(store.unchanged(since: looked) == nil)
        #expect(store.question == 2)
    }
}
