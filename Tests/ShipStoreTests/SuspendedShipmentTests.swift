import Foundation
import GRDB
import ShipLinks
import ShipProtocol
import StoreBases
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// An app that is suspended while a shipment comes in: it cancels the task that receives, and lets the consumer go.
@Suite struct SuspendedShipmentTests {
    private let folder: ScratchFolder
    private let store: FilePath
    private let inbox: FilePath

    init() throws {
        folder = try ScratchFolder()
        store = folder.path.appending("Recipes.sqlite")
        inbox = folder.path.appending("inbox")
        try TestStore.make(
            at: store,
            sql: """
                CREATE TABLE line(id INTEGER PRIMARY KEY, words TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)
                INSERT INTO line SELECT i, hex(randomblob(120)) FROM n;
                """)
    }

    private func producer(_ memory: String = "bases") -> Producer {
        var options = Producer.Options()
        options.memory = BaseMemory(at: folder.path.appending(memory))
        return Producer(store, options: options)
    }

    /// Receives in a task of its own, with a consumer that goes with it.
    private func receive(over link: StreamLink, into inbox: FilePath) -> Task<[Receipt], any Error> {
        Task {
            let consumer = try Consumer(inbox: inbox)
            return try await consumer.receive(over: link, named: "phone")
        }
    }

    @Test func `the rest comes to another consumer, and nothing of what was there again`() async throws {
        let whole = Wire()
        let other = receive(over: whole.toProducer, into: folder.path.appending("other"))
        _ = try await producer("other bases").send(to: whole.toConsumer, named: "watch")
        #expect(try await other.value.count == 1)
        let size = whole.carried
        #expect(size > 600_000)

        let cut = Wire(stoppingAfter: size * 2 / 3)
        let receiving = receive(over: cut.toProducer, into: inbox)
        let sending = Task { [producer = producer()] in try await producer.send(to: cut.toConsumer, named: "watch") }
        await cut.untilStopped()
        // What is on its way to the consumer arrives.
        try await Task.sleep(for: .milliseconds(300))
        receiving.cancel()
        await #expect(throws: ShipmentError.self) { try await receiving.value }
        // Nobody has it any more, and nothing half done is current.
        _ = try Consumer(inbox: inbox)
        #expect(try Inbox(at: inbox).current(of: StoreName(suggestedBy: store)) == nil)
        cut.end()
        await #expect(throws: (any Error).self) { try await sending.value }

        let rest = Wire()
        let again = receive(over: rest.toProducer, into: inbox)
        let deliveries = try await producer().send(to: rest.toConsumer, named: "watch")
        #expect(try await again.value.first?.outcome == .installed)
        #expect(deliveries.count == 1)
        #expect(rest.carried < size - size * 2 / 3 + size / 20 + 65_536, "\(rest.carried) of \(size)")
        let generation = try #require(try Inbox(at: inbox).current(of: StoreName(suggestedBy: store)))
        #expect(try StoreContent(of: generation.storePath).tables == StoreContent(of: store).tables)
    }
}

/// Two links in memory, each other's ends.
private final class Wire: Sendable {
    private struct Broken: Error {}

    let toConsumer: StreamLink
    let toProducer: StreamLink
    private let count: Count
    private let stopped: AsyncStream<Void>
    private let ends: [AsyncThrowingStream<[UInt8], any Error>.Continuation]

    private final class Count: Sendable { let bytes = Atomic(0) }

    /// - Parameter most: Bytes that the producer gets through; what comes then is not taken.
    init(stoppingAfter most: Int = .max) {
        let (count, (stopped, stop)) = (Count(), AsyncStream<Void>.makeStream())
        let (shipment, ship) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let (answers, answer) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        toConsumer = StreamLink(
            reading: answers,
            writing: { bytes in
                if count.bytes.load(ordering: .relaxed) >= most {
                    stop.finish()
                    try await Task.sleep(for: .seconds(60))
                }
                for start in stride(from: 0, to: bytes.count, by: 4096) {
                    ship.yield(Array(bytes[start..<min(start + 4096, bytes.count)]))
                }
                count.bytes.add(bytes.count, ordering: .relaxed)
            }, finish: { ship.finish() })
        toProducer = StreamLink(
            reading: shipment, writing: { answer.yield($0) }, finish: { answer.finish() })
        self.count = count
        self.stopped = stopped
        ends = [ship, answer]
    }

    /// Bytes that came from the producer.
    var carried: Int { count.bytes.load(ordering: .relaxed) }

    func untilStopped() async { for await _ in stopped {} }

    /// As the system does it once a process is gone.
    func end() { for end in ends { end.finish(throwing: Broken()) } }
}
