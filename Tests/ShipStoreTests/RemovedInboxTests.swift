import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import StoreInbox
import StoreInstall
import SystemPackage
import TestSupport
import Testing

@Suite struct RemovedInboxTests {
    @Test func `a store that is forgotten meanwhile is passed over where all are pruned`() async throws {
        let scratch = try ScratchFolder()
        let inbox = Inbox(at: scratch.path.appending("inbox"))
        for name in ["A", "B"] {
            let (store, file) = (scratch.path.appending("\(name).sqlite"), scratch.path.appending("\(name).shipment"))
            for sql in ["CREATE TABLE t(a)", "INSERT INTO t VALUES (1)"] {
                try TestStore.make(at: store, sql: sql)
                _ = try await Producer(store).send(to: .file(file))
                _ = try await Consumer(inbox: inbox.root).receive(from: file)
                try PlatformCalls.removeFile(file)
            }
        }
        let (first, second) = (try #require(StoreName("A")), try #require(StoreName("B")))
        let pruned = try GenerationPruning.perform(in: inbox, keeping: Retention(count: 1)) { _ in
            _ = try? inbox.open().forget(second)
        }
        #expect(pruned.map(\.name) == [first])
        #expect(try inbox.storeNames() == [first])
        #expect(throws: ShipmentError.install(.noSuchStore(second))) {
            try GenerationPruning.perform(on: second, in: inbox, keeping: Retention(count: 1))
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["inbox", "inbox/.ship-store"], [false, true])
    func `a listener ends once a shipment finds no inbox`(removed: String, isMoved: Bool) async throws {
        let scratch = try ScratchFolder()
        let (store, inbox) = (scratch.path.appending("Recipes.sqlite"), scratch.path.appending("inbox"))
        try TestStore.make(at: store, sql: "CREATE TABLE recipe(title); INSERT INTO recipe VALUES ('soup')")
        let socket = Endpoint.unix(scratch.path.appending("s"))
        let consumer = try Consumer(inbox: inbox)
        let (starts, continuation) = AsyncStream.makeStream(of: Void.self)
        let receiver = Task {
            try await consumer.listen(on: socket) { report in
                if case .listener(.listening) = report.event { continuation.yield() }
            }
        }
        defer { receiver.cancel() }
        var iterator = starts.makeAsyncIterator()
        _ = await iterator.next()
        _ = try await Producer(store).send(to: socket)
        let (place, elsewhere) = (scratch.path.pushing(FilePath(removed)), scratch.path.appending("elsewhere"))
        if isMoved { try PlatformCalls.rename(place, to: elsewhere) } else { try Folder.removeTree(at: place) }
        try TestStore.make(at: store, sql: "INSERT INTO recipe VALUES ('bread')")
        _ = try? await Producer(store).send(to: socket)
        await #expect(throws: ShipmentError.install(.inboxRemoved(inbox))) { try await receiver.value }
    }
}
