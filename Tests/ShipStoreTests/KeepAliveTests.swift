import Foundation
import ShipProtocol
import ShipStoreNetwork
import ShipTransport
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Other sides that say for ever that they are at work, and do nothing else.
@Suite struct `A side that only says that it is at work` {
    private let scratch: ScratchFolder
    private let store: FilePath

    init() throws {
        scratch = try ScratchFolder()
        store = scratch.path.appending("Recipes.sqlite")
        try TestStore.make(at: store, sql: "CREATE TABLE a(b); INSERT INTO a VALUES (randomblob(2000))")
    }

    private var shortTimeouts: Timeouts { timeouts(preparing: .milliseconds(500)) }

    /// - Parameter preparing: More than a child may take to start, where something else is to be overdue.
    private func timeouts(preparing: Duration) -> Timeouts {
        var timeouts = Timeouts(idle: .seconds(2), preparing: preparing, work: .milliseconds(500))
        timeouts.rateWindow = .milliseconds(500)
        return timeouts
    }

    // MARK: To a consumer

    /// A child that sends the beginning of a shipment, up to some frame, and then WORKING twenty times a second.
    private func child(sendingUpTo type: FrameType?, thenFrames: String = "working") async throws -> Endpoint {
        let file = scratch.path.appending("a.shipment")
        _ = try await Producer(store).send(to: .file(file))
        let stream = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file.string)))
        let elements = try StreamElement.all(in: stream)
        let last = try #require(elements.last { $0.type == type })
        let working = try Frame.working.serialized()
        let script = scratch.path.appending("drip.py")
        try """
        import sys, time
        stream = open('\(file.string)', 'rb').read()
        working = bytes(\(working.map(Int.init)))
        out = sys.stdout.buffer
        out.write(stream[:\(last.range.upperBound)]); out.flush()
        while True:
            out.write(\(thenFrames)); out.flush()
            time.sleep(0.05)
        """.write(toFile: script.string, atomically: true, encoding: .utf8)
        return .command("python3 '\(script.string)'")
    }

    private func receive(
        from endpoint: Endpoint, preparing: Duration = .seconds(30)
    ) async throws(ShipmentError) -> [Receipt] {
        var options = Consumer.Options()
        options.timeouts = timeouts(preparing: preparing)
        return try await Consumer(inbox: scratch.path.appending("inbox"), options: options).receive(from: endpoint)
    }

    /// Nobody waits much longer than was said.
    private func expect(
        _ error: ShipmentError, within time: Duration = .seconds(10), _ body: () async throws -> Void
    ) async {
        let start = ContinuousClock.now
        await #expect(throws: error) { try await body() }
        #expect(.now - start < time)
    }

    @Test(arguments: ["working", "working * 20000"])
    func `instead of a manifest is given up, however much it says`(frames: String) async throws {
        let child = try await child(sendingUpTo: nil, thenFrames: frames)
        await expect(.overdue(.manifest(.milliseconds(500)))) {
            _ = try await receive(from: child, preparing: .milliseconds(500))
        }
    }

    /// 20 frames of 9 bytes a second are more than the minimum rate asks for.
    @Test(arguments: [FrameType.manifest, .part, .data])
    func `instead of content is given up, and its store is free again`(last: FrameType) async throws {
        var options = Consumer.Options()
        options.timeouts = timeouts(preparing: .seconds(30))
        let consumer = try Consumer(inbox: scratch.path.appending("inbox"), options: options)
        let child = try await child(sendingUpTo: last)
        await expect(.link(.tooSlow(bytesPerSecond: 100))) { _ = try await consumer.receive(from: child) }
        #expect(InboxProbe(scratch.path.appending("inbox"), store: "Recipes").state.staged.isEmpty)
        #expect(
            try await consumer.receive(from: .file(scratch.path.appending("a.shipment"))).map(\.outcome) == [.installed]
        )
    }

    @Test func `counts no more with frames that are not known`() async throws {
        // 0x90, with 60,000 bytes in it: ten times what the minimum rate asks for over the whole test.
        var frame: [UInt8] = [0x90, 0, 0, 0xEA, 0x60] + [UInt8](repeating: 7, count: 60_000)
        frame.append(bigEndian: UInt32(crc32Of: frame))
        try Data(frame).write(to: URL(fileURLWithPath: scratch.path.appending("frame").string))
        let child = try await child(
            sendingUpTo: .manifest, thenFrames: "open('\(scratch.path.appending("frame"))', 'rb').read()")
        await expect(.link(.tooSlow(bytesPerSecond: 100))) { _ = try await receive(from: child) }
    }

    // MARK: To a producer

    private func send(to consumer: WorkingConsumer, minimumRate: Int = 100) async throws {
        let store = store
        var timeouts = shortTimeouts
        timeouts.minimumRate = minimumRate
        let session = ProducerSession(
            timeouts: timeouts, authorization: SessionAuthorization(.localPrograms) {}, report: { _ in })
        let order = ProducerSession.Order {
            OutgoingShipment(StoreVersion(try await PreparedCopy(of: store, CopyOptions())), Producer.Options.inBlocks)
        }
        let link = PeerLink(
            direction: .twoWay, reader: consumer, writer: consumer,
            peer: .at(.command("a consumer"))
        )
        _ = try await session.run(link, [order]).results.first?.get()
    }

    private var size: Int64 { get throws { try PlatformCalls.status(of: store).size } }

    @Test func `instead of an answer is given up`() async throws {
        let patience = shortTimeouts.work(on: try size) + shortTimeouts.idle
        await expect(.overdue(.answer(patience))) { try await send(to: WorkingConsumer(accepts: false)) }
    }

    @Test func `instead of a receipt is given up`() async throws {
        let patience = shortTimeouts.work(on: try size)
        await expect(.overdue(.receipt(patience))) { try await send(to: WorkingConsumer(accepts: true)) }
    }

    @Test func `and takes nothing is given up`() async throws {
        await expect(.link(.timedOut(.writing))) {
            try await send(to: WorkingConsumer(accepts: true, takes: .nothingOfTheStore))
        }
    }

    @Test func `and takes next to nothing is given up`() async throws {
        await expect(.link(.timedOut(.writing))) {
            try await send(to: WorkingConsumer(accepts: true, takes: .littleOfTheStore), minimumRate: 1000)
        }
    }

    // MARK: And one that does work

    @Test func `a store of a gigabyte has the time that it may need`() {
        let (timeouts, size) = (Timeouts(), Int64(1_000_000_000))
        // Ten times what this machine takes for the slowest of all: to sort an index of it.
        #expect(timeouts.preparing >= .seconds(1800))
        #expect(timeouts.work(on: size) >= .seconds(1600))
        // What is only claimed buys no more time.
        #expect(timeouts.rateWindow(for: size) == .seconds(1060) && timeouts.rateWindow(for: .max) == .seconds(1060))
        #expect(timeouts.work(on: 0) <= .seconds(600) && timeouts.rateWindow(for: 0) <= .seconds(60))
    }

    @Test func `a producer that takes its time is waited for`() async throws {
        let file = scratch.path.appending("a.shipment")
        let child = try await child(sendingUpTo: nil)
        guard case .command(let command) = child else { return }
        let script = scratch.path.appending("slow.py")
        let lines = try String(contentsOfFile: scratch.path.appending("drip.py").string, encoding: .utf8)
        // Longer than silence is borne, at every step.
        try lines.replacingOccurrences(of: "while True:", with: "for _ in range(60):")
            .appending("\nout.write(stream[16:]); out.flush()\n")
            .write(toFile: script.string, atomically: true, encoding: .utf8)
        #expect(FileManager.default.fileExists(atPath: file.string))
        var options = Consumer.Options()
        options.timeouts = Timeouts(idle: .seconds(1), preparing: .seconds(30))
        let consumer = try Consumer(inbox: scratch.path.appending("inbox"), options: options)
        let receipt = try await consumer.receive(
            from: .command(command.replacingOccurrences(of: "drip.py", with: "slow.py")))
        #expect(receipt.map(\.outcome) == [.installed])
    }
}

/// Greets, says for ever that it is at work, and does no more than it is made to.
private final class WorkingConsumer: LinkReader, LinkWriter {
    enum Takes: Hashable { case everything, nothingOfTheStore, littleOfTheStore }

    private let accepts: Bool
    private let takes: Takes
    private let words: Mutex<[[UInt8]]>
    private let parser = Mutex(FrameParser())
    private let isOffered = Mutex(false)

    init(accepts: Bool, takes: Takes = .everything) {
        (self.accepts, self.takes) = (accepts, takes)
        let hello = Frame.hello(Hello(software: "a consumer", taking: CommonEncodings([]), holds: []))
        words = Mutex([Preamble(role: .consumer, mode: .twoWay).encoded, (try? hello.serialized()) ?? []])
    }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        if let word = words.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return word }
        guard (try? await Task.sleep(for: .milliseconds(20))) != nil else { throw .cancelled }
        return try? Frame.working.serialized()
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        if isOffered.withLock({ $0 }) {
            switch takes {
            case .everything: break
            case .nothingOfTheStore:
                guard (try? await Task.sleep(for: limit)) != nil else { throw .cancelled }
                throw .timedOut(.writing)
            case .littleOfTheStore:
                // A byte now and then, so that no silence is long.
                guard (try? await Task.sleep(for: .seconds(3600))) != nil else { throw .cancelled }
            }
        }
        guard (try? take(bytes)) != nil else { throw .closedByPeer }
    }

    private func take(_ bytes: [UInt8]) throws {
        try parser.withLock { parser in
            parser.append(bytes)
            while let element = try parser.next() {
                guard case .frame(.manifest) = element, accepts else { continue }
                let acceptance = try Frame.answer(.everything).serialized()
                words.withLock { $0.append(acceptance) }
                isOffered.withLock { $0 = true }
            }
        }
    }

    func finish() async throws(LinkError) {}
}
