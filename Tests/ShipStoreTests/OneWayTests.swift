import Foundation
import ShipLinks
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import Synchronization
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

    @Test func `a consumer that is stopped once all of a file is installed has done what it was asked for`()
        async throws
    {
        let folder = try ScratchFolder()
        let (store, file) = (folder.path.appending("Recipes.sqlite"), folder.path.appending("a.shipment"))
        try SampleStore.plain.make(at: store)
        _ = try await Producer(store).send(to: .file(file))
        let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file.string)))
        let consumer = try Consumer(inbox: folder.path.appending("inbox"))
        func receive(_ bytes: [UInt8]) async throws -> [Receipt] {
            let link = PeerLink(
                direction: .oneWay, isFile: true, reader: StoppedFile(bytes), writer: ClosedSide(),
                peer: .at(.file(file)))
            return try await consumer.receive(over: link, .never) { _ in }
        }
        await #expect(throws: ShipmentError.stopped) { try await receive(Array(bytes.prefix(bytes.count / 2))) }
        #expect(try await receive(bytes).map(\.outcome) == [.installed])
    }
}

/// A file whose reader is told to stop before it sees the end.
private final class StoppedFile: LinkReader {
    private let bytes: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        let piece = bytes.withLock { bytes in
            defer { bytes = [] }
            return bytes
        }
        if piece.isEmpty { throw .cancelled }
        return piece
    }
}
