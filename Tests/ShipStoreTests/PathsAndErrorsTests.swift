import Foundation
import ShipStore
import Testing

/// What an app writes, with the library's own import alone.
@Suite struct PathsAndErrorsTests {
    @Test func `a store is named by a text, a URL or a path`() throws {
        let name = "/tmp/a b%20\u{E9}.sqlite"
        for producer in [Producer(name), Producer(URL(fileURLWithPath: name)), Producer(FilePath(name))] {
            #expect(producer.stores == [FilePath(name)])
        }
        #expect(FilePath(try #require(URL(string: "https://a.example/b"))) == "https://a.example/b")
    }

    @Test(
        arguments: [
            ShipmentError.source(.noSuchFile("x")), SnapshotError.noSuchFile("x"), OperationError.noSuchStore("x"),
        ] as [any Error])
    func `an error says what happened where an app asks for it`(error: any Error) {
        #expect(error.localizedDescription == "there is no store at x")
        #expect((error as? any ExplainedError)?.cause.text == "there is no store at x")
    }

    @Test func `a wrong path of an inbox is told from a store that has not come`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = FilePath(folder)
        #expect(throws: CoordinatorError.inbox(.noInbox(path))) {
            try StoreCoordinator(inbox: path).read("Recipes") { _ in }
        }
        #expect(throws: CoordinatorError.inbox(.noInbox(path))) { try StoreCoordinator(inbox: path).pin("Recipes") }
        let consumer = try Consumer(inbox: path)
        #expect(throws: CoordinatorError.noSuchStore("Recipes")) { try consumer.coordinator.read("Recipes") { _ in } }
        #expect(throws: CoordinatorError.noSuchStore("Recipes")) { try StoreCoordinator(inbox: path).pin("Recipes") }
    }
}
