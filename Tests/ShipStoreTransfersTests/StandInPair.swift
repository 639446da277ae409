import Foundation
import GRDB
import ShipStore
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStoreTransfers

/// A phone with stores and a watch with an inbox, and lines between them. What each knows is in its folders.
final class StandInPair {
    let scratch: ScratchFolder
    let clock = StandInClock()
    let phoneLine: StandInLine
    let watchLine: StandInLine
    let stores: [FilePath]
    var senderOptions = TransferSender.Options()
    var receiverOptions = TransferReceiver.Options()
    var consumerOptions = Consumer.Options()

    let sent = EventLog<SenderEvent>()
    let received = EventLog<ReceiverEvent>()

    private(set) var sender: TransferSender?
    private(set) var receiver: TransferReceiver?
    private(set) var phoneSession: StandInSession
    private(set) var watchSession: StandInSession

    var phoneFolder: FilePath { scratch.path.appending("phone") }
    var watchFolder: FilePath { scratch.path.appending("watch") }
    var inbox: FilePath { watchFolder.appending("inbox") }

    /// - Parameter names: Of the stores.
    init(_ names: [String] = ["Recipes"], rows: Int = 50) throws {
        scratch = try ScratchFolder.inMemory()
        let arriving = try scratch.folder("arriving")
        (phoneLine, watchLine) = (StandInLine(scratch: arriving), StandInLine(scratch: arriving))
        phoneSession = StandInSession(phoneLine, watchLine)
        watchSession = StandInSession(watchLine, phoneLine)
        let folder = try scratch.folder("stores")
        stores = names.map { folder.appending("\($0).sqlite") }
        for store in stores {
            try TestStore.make(
                at: store,
                sql: """
                    CREATE TABLE recipe(id INTEGER PRIMARY KEY, title);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                    INSERT INTO recipe SELECT i, hex(randomblob(20)) FROM n;
                    """)
        }
        senderOptions.producer.copy.temporaryFolder = scratch.path
        (senderOptions.now, receiverOptions.now) = (clock.now, clock.now)
    }

    // MARK: Processes

    func startPhone() throws {
        phoneSession = StandInSession(phoneLine, watchLine)
        sender = nil
        sender = try TransferSender(
            of: stores, over: phoneSession, folder: phoneFolder, options: senderOptions,
            report: sent.add)
    }

    func startWatch() throws {
        watchSession = StandInSession(watchLine, phoneLine)
        receiver = nil
        let consumer = try Consumer(inbox: inbox, options: consumerOptions)
        receiver = try TransferReceiver(
            into: consumer, over: watchSession, folder: watchFolder.appending("transfers"), options: receiverOptions,
            report: received.add)
    }

    func start() throws {
        try startPhone()
        try startWatch()
    }

    func endPhone() { sender = nil }
    func endWatch() { receiver = nil }

    // MARK: What happens

    func change(_ store: Int = 0, _ sql: String = "UPDATE recipe SET title = hex(randomblob(4)) WHERE id = 7") throws {
        try TestStore.make(at: stores[store], sql: sql)
        sender?.storeDidChange(StoreName(stores[store].stem ?? ""))
        clock.advance(5)
    }

    /// Delivers all that is queued, in order.
    func deliverAll() throws {
        while !phoneLine.isEmpty, let receiver { try phoneLine.deliver(from: sender, to: receiver) }
        while !watchLine.isEmpty, let sender { try watchLine.deliver(from: receiver, to: sender) }
    }

    func step() async {
        _ = await sender?.step()
        _ = await receiver?.step()
    }

    /// Until neither has anything to say, whatever the time.
    func settle() async throws {
        for _ in 0..<200 {
            await step()
            let isQuiet = phoneLine.isEmpty && watchLine.isEmpty
            try deliverAll()
            guard isQuiet else { continue }
            let next = try #require(await sender?.step())
            let other = try #require(await receiver?.step())
            guard phoneLine.isEmpty, watchLine.isEmpty else { continue }
            if min(next, other) == .distantFuture { return }
            clock.advance(to: min(next, other))
        }
        Issue.record("it does not come to an end")
    }

    // MARK: What is there

    /// The watch has what the phone has, byte for byte, and nothing is left over.
    func expectSame(_ comment: Comment? = nil) async throws {
        for store in stores {
            let file = scratch.path.appending("whole.shipment")
            let manifest = try #require(try await Producer(store).send(to: file).first?.manifest)
            try Folder.removeTree(at: file)
            let name = StoreName(suggestedBy: store.lastComponent?.string ?? "")
            let current = try #require(try Inbox(at: inbox).current(of: name), comment)
            let bytes = try Data(contentsOf: URL(fileURLWithPath: current.storePath.string))
            #expect(ContentDigest(hashing: bytes) == manifest.store.sha256, comment)
        }
        #expect(
            try Folder.names(in: phoneFolder).sorted() == ["bases", "outgoing", "record.json", "ship-store-transfers"],
            comment)
        #expect(try Folder.names(in: phoneFolder.appending("outgoing")) == [], comment)
        let transfers = watchFolder.appending("transfers")
        #expect(try Folder.names(in: transfers).sorted() == ["arrived", "outgoing", "ship-store-transfers"], comment)
        #expect(try Folder.names(in: transfers.appending("arrived")) == [], comment)
        #expect(try Folder.names(in: transfers.appending("outgoing")) == [], comment)
    }

    /// Copies a folder as it is, owners and links included.
    static func copy(_ source: FilePath, to target: FilePath) throws {
        try Folder.removeTree(at: target)
        guard (try? PlatformCalls.status(of: source)) != nil else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cp")
        process.arguments = ["-a", source.string, target.string]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}

final class StandInClock: Sendable {
    private let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

    @Sendable func now() -> Date { time.withLock { $0 } }
    func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
    func advance(to date: Date) { time.withLock { $0 = max($0, date) } }
}

final class EventLog<Event: Sendable>: Sendable {
    private let events = Mutex<[Event]>([])

    @Sendable func add(_ event: Event) { events.withLock { $0.append(event) } }

    var all: [Event] { events.withLock { $0 } }

    func clear() { events.withLock { $0 = [] } }
}
