import Foundation
import ShipProtocol
import ShipStoreNetwork
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

@Suite struct `What waits too long in an inbox` {
    private let folder: ScratchFolder

    init() throws { folder = try ScratchFolder() }

    @Test(.timeLimit(.minutes(1))) func `goes while its owner follows, though no session begins`() async throws {
        let (inbox, store) = (folder.path.appending("inbox"), folder.path.appending("Recipes.sqlite"))
        try TestStore.make(at: store, sql: "CREATE TABLE a(b)")
        let consumer = try Consumer(inbox: inbox)
        let file = folder.path.appending("a.shipment")
        _ = try await Producer(store).send(to: .file(file))
        _ = try await consumer.receive(from: .file(file))
        let staging = inbox.appending(".ship-store/Recipes/staging/\(UUID().uuidString)")
        try FileManager.default.createDirectory(atPath: staging.string, withIntermediateDirectories: true)
        let old = WaitingRecord(producer: nil, at: Date(timeIntervalSinceNow: -90_000), start: "before")
        try Data(old.jsonBytes).write(to: URL(fileURLWithPath: staging.appending("waiting.json").string))
        let following = Task { [publication = folder.path.appending("nothing")] in
            try await consumer.follow(from: .folder(publication), keepsTrying: true)
        }
        defer { following.cancel() }
        while FileManager.default.fileExists(atPath: staging.string) { try await Task.sleep(for: .milliseconds(20)) }
    }
}
