import Foundation
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

@Suite struct `Over a link that goes one way` {
    @Test func `a consumer refuses a producer that awaits an answer`() async throws {
        let folder = try ScratchFolder()
        let file = folder.path.appending("shipment")
        try OpenFile.creating(file).write(Preamble(role: .producer, mode: .twoWay).encoded)
        let consumer = try Consumer(inbox: folder.path.appending("inbox"))
        let error = await #expect(throws: ShipmentError.self) { try await consumer.receive(from: .file(file)) }
        #expect(error == .cannotAnswer)
        #expect(error?.commandStatus == 76)
    }

    @Test func `a producer that fails says so to the consumer`() async throws {
        let folder = try ScratchFolder()
        let store = folder.path.appending("Recipes.sqlite")
        try CoreDataSample(at: store).addPhoto(key: 1, content: nil)
        let pipe = folder.path.appending("pipe")
        try #require(mkfifo(pipe.string, 0o600) == 0)
        let consumer = try Consumer(inbox: folder.path.appending("inbox"))
        async let received = consumer.receive(from: .file(pipe))
        let failure = await #expect(throws: ShipmentError.self) { try await Producer(store).send(to: .file(pipe)) }
        guard case .source(.missingExternalFile) = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        do {
            _ = try await received
            Issue.record("there was nothing to receive")
        } catch {
            #expect(error as? ShipmentError == .givenUp(Reason(.stopped, message: "the store cannot be copied")))
        }
    }
}
