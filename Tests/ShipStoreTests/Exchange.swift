import Foundation
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// A producer and a consumer in this process, and a real link between them.
struct Exchange {
    let folder: ScratchFolder
    let store: FilePath
    let inbox: FilePath
    var sending = StubCodec()
    var receiving: StubCodec? = StubCodec()
    /// Both sides have the codec that ships.
    var isReal = false
    var options = Producer.Options()
    /// Where the consumer checks.
    var checkPlace = CheckOptions.Place.thisProcess

    private let sent = Log<SendEvent>()
    private let received = Log<ReceiveEvent>()

    init(_ sample: SampleStore = .plain) throws {
        folder = try ScratchFolder()
        store = folder.path.appending("Recipes.sqlite")
        inbox = folder.path.appending("inbox")
        try sample.make(at: store)
    }

    /// A Core Data store with external files.
    init(externalFiles: Int) throws {
        folder = try ScratchFolder()
        store = folder.path.appending("Recipes.sqlite")
        inbox = folder.path.appending("inbox")
        let sample = try CoreDataSample(at: store)
        for key in 0..<externalFiles {
            try sample.addPhoto(key: key + 1, content: Data(repeating: UInt8(key), count: 50_000))
        }
    }

    private func consumer() throws -> Consumer {
        var options = Consumer.Options()
        options.codec = isReal ? FileCodec() : receiving
        options.checking.place = checkPlace
        return try Consumer(inbox: inbox, options: options)
    }

    private var producer: Producer {
        var options = options
        options.codec = isReal ? FileCodec() : sending
        return Producer(store, options: options)
    }

    /// Ships over a Unix socket.
    func overSocket() async throws -> Delivery {
        let socket = folder.path.appending("socket")
        let consumer = try consumer()
        let (listening, ready) = AsyncStream<Void>.makeStream()
        async let serving: Void = consumer.listen(on: .unix(socket), .once) { [received] report in
            received.add(report.event)
            if case .listener(.listening) = report.event { ready.yield() }
        }
        var iterator = listening.makeAsyncIterator()
        await iterator.next()
        let deliveries = try await producer.send(to: .unix(socket), report: sent.add)
        try await serving
        return try #require(deliveries.first)
    }

    /// Ships through a pipe.
    func throughPipe() async throws -> Receipt {
        let pipe = try FileDescriptor.pipe()
        // Nobody listens to the consumer.
        let nowhere = try FileDescriptor.open("/dev/null", .writeOnly)
        defer { try? nowhere.close() }
        var (sending, receiving) = (LinkOptions(), LinkOptions())
        sending.standardOutput = pipe.writeEnd
        (receiving.standardInput, receiving.standardOutput) = (pipe.readEnd, nowhere)
        let consumer = try consumer()
        async let outcome = Self.result { [receiving] in
            try await consumer.receive(
                from: .standardStreams, receiving, report: { [received] in received.add($0.event) })
        }
        _ = try? await producer.send(to: .standardStreams, sending, report: sent.add)
        try pipe.writeEnd.close()
        let receipt = await outcome
        try pipe.readEnd.close()
        return try receipt.get()
    }

    private static func result(_ body: @Sendable () async throws -> [Receipt]) async -> Result<Receipt, any Error> {
        do {
            return .success(try #require(try await body().first))
        } catch {
            return .failure(error)
        }
    }

    /// Ships into a file.
    func intoFile() async throws -> FilePath {
        let file = folder.path.appending("a.shipment")
        _ = try await producer.send(to: .file(file), report: sent.add)
        return file
    }

    func receive(_ file: FilePath) async throws -> Receipt {
        let receipts = try await consumer().receive(from: .file(file), report: { [received] in received.add($0.event) })
        return try #require(receipts.first)
    }

    /// Why the producer began again.
    var restarts: [RestartCause] {
        sent.all.compactMap { if case .startedAgain(let cause) = $0 { cause } else { nil } }
    }

    /// How many copies the producer has taken.
    var copies: Int { sent.all.count { if case .copied = $0 { true } else { false } } }

    var questions: Int { received.all.count { $0 == .askedAgain } }

    /// Whether both sides' last word on their progress was that all is done.
    var progressIsWhole: Bool {
        let wasSent = sent.all.reversed().lazy.compactMap { event -> Bool? in
            if case .progress(let done, let total, _) = event { done == total } else { nil }
        }
        let wasReceived = received.all.reversed().lazy.compactMap { event -> Bool? in
            if case .progress(let done, let total) = event { done == total } else { nil }
        }
        return wasSent.first == true && wasReceived.first == true
    }

    /// What is installed, compared with its manifest, byte by byte.
    func expectInstalled(_ receipt: Receipt?) throws {
        #expect(receipt?.outcome == .installed)
        let generation = try #require(try Inbox(at: inbox).current(of: StoreName(suggestedBy: store)))
        try generation.compareWithManifest()
        let files = try Folder.names(in: generation.path).filter { $0 != ".Recipes_SUPPORT" }
        #expect(files.sorted() == ["Recipes.sqlite", "manifest.json"])
        #expect(try StoreContent(of: generation.storePath).tables == StoreContent(of: store).tables)
        #expect(InboxProbe(inbox, store: "Recipes").state.staged.isEmpty)
    }
}

private final class Log<Event: Sendable>: Sendable {
    private let events = Mutex<[Event]>([])

    @Sendable func add(_ event: Event) { events.withLock { $0.append(event) } }

    var all: [Event] { events.withLock { $0 } }
}

extension Producer.Options {
    /// Stores go in blocks, one after the other.
    static var inBlocks: Producer.Options {
        var options = Producer.Options()
        options.encoding = .blocks
        options.cores = 1
        return options
    }
}
