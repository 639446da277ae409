import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Sessions over what an app carries itself, with the library's standard codec and memory.
@Suite struct `A session over messages` {
    private let folder: ScratchFolder
    private let store: FilePath
    private let inbox: FilePath

    init() throws {
        folder = try ScratchFolder()
        store = folder.path.appending("Recipes.sqlite")
        inbox = folder.path.appending("inbox")
        let sample = try CoreDataSample(at: store)
        var random = RepeatableRandom(seed: 3)
        for key in 1...4 {
            let bytes = (0..<150_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            try sample.addPhoto(key: key, content: Data(bytes))
        }
    }

    private var producer: Producer {
        var options = Producer.Options()
        options.memory = BaseMemory(at: folder.path.appending("memory"))
        return Producer(store, options: options)
    }

    /// - Returns: What both sides say of one session.
    private func ship(
        over channel: StandInChannel
    ) async throws -> (delivery: Result<Delivery?, any Error>, receipt: Result<Receipt?, any Error>) {
        let consumer = try Consumer(inbox: inbox)
        let pump = Task { await channel.run() }
        defer { pump.cancel() }
        async let receipts = Result { try await consumer.receive(over: channel.watch, named: "phone").first }
        let delivery = await Result { try await producer.send(to: channel.phone, named: "watch").first }
        return (delivery, await receipts)
    }

    private func change(_ text: String) throws {
        let queue = try DatabaseQueue(path: store.string)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE IF NOT EXISTS note(t); INSERT INTO note VALUES ('\(text)')")
        }
        try queue.close()
    }

    private func notes() throws -> [String] {
        try StoreCoordinator(inbox: inbox).read { try String.fetchAll($0, sql: "SELECT t FROM note") }
    }

    @Test(arguments: StandInChannel.Habit.allCases)
    func `brings the store, then what has changed, then nothing, whatever the messages do`(
        habit: StandInChannel.Habit
    ) async throws {
        try change("one")
        var sent: [Int64] = []
        for expected in [Receipt.Outcome.installed, .installed, .unchanged] {
            let channel = StandInChannel(habit)
            let (delivery, receipt) = try await ship(over: channel)
            #expect(try receipt.get()?.outcome == expected)
            sent.append(try #require(try delivery.get()).bytesSent)
            #expect(channel.longest <= 64 * 1024)
            #expect(try notes() == (sent.count == 1 ? ["one"] : ["one", "two"]))
            if sent.count == 1 { try change("two") }
        }
        // All of it, a delta, and a greeting.
        #expect(sent[1] * 4 < sent[0] && sent[2] < sent[1])
    }

    @Test(.timeLimit(.minutes(1))) func `what has arrived has arrived, though the link never says that it is over`()
        async throws
    {
        let channel = StandInChannel(.prompt)
        let pump = Task { await channel.run() }
        defer { pump.cancel() }
        var options = Consumer.Options()
        options.timeouts.idle = .seconds(1)
        let consumer = try Consumer(inbox: inbox, options: options)
        async let receipts = consumer.receive(over: EndlessLink(base: channel.watch), named: "phone")
        var sending = Producer.Options()
        sending.timeouts.idle = .seconds(1)
        let deliveries = try await Producer(store, options: sending)
            .send(to: EndlessLink(base: channel.phone), named: "watch")
        #expect(deliveries.first?.receipt?.outcome == .installed)
        #expect(try await receipts.first?.outcome == .installed)
    }

    @Test(arguments: [3, 8, 12]) func `ends on both sides where the channel is lost, and the next one installs`(
        messages: Int
    ) async throws {
        try change("one")
        let channel = StandInChannel(.prompt, lostAfter: messages)
        let (delivery, receipt) = try await ship(over: channel)
        #expect(throws: (any Error).self) { try delivery.get() }
        #expect(throws: (any Error).self) { try receipt.get() }
        let (again, installed) = try await ship(over: StandInChannel(.prompt))
        #expect(try installed.get()?.outcome == .installed)
        #expect(try again.get() != nil)
        #expect(try notes() == ["one"])
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}

/// A link whose end the app waits for, for ever.
private struct EndlessLink: Link {
    let base: MessageLink

    func read(within limit: Duration) async throws -> [UInt8]? { try await base.read(within: limit) }
    func write(_ bytes: [UInt8], within limit: Duration) async throws { try await base.write(bytes, within: limit) }
    func finish() async throws {
        try await base.finish()
        await withCheckedContinuation { (forever: CheckedContinuation<Void, Never>) in
            Self.kept.withLock { $0.append(forever) }
        }
    }

    private static let kept = Mutex<[CheckedContinuation<Void, Never>]>([])
}

/// What carries messages between two apps, as badly as such things do.
final class StandInChannel: Sendable {
    enum Habit: CaseIterable {
        case prompt, late, inBursts, doubled, disordered, oneDirectionAtATime
    }

    private struct State {
        var queues: [[[UInt8]]] = [[], []]
        /// What was delivered last, in each direction.
        var before: [[[UInt8]]] = [[], []]
        var count = 0
        var longest = 0
        var random = RepeatableRandom(seed: 5)
    }

    /// Messages that wait, beyond which there is no room for more.
    private static let room = 24

    let phone: MessageLink
    let watch: MessageLink
    private let habit: Habit
    private let lostAfter: Int
    private let state: SharedState<State>
    private let ends: [AsyncStream<[UInt8]>.Continuation]

    /// - Parameter lostAfter: So many messages are taken, of both sides.
    init(_ habit: Habit, lostAfter: Int = .max) {
        (self.habit, self.lostAfter) = (habit, lostAfter)
        let (toWatch, watchEnd) = AsyncStream<[UInt8]>.makeStream()
        let (toPhone, phoneEnd) = AsyncStream<[UInt8]>.makeStream()
        let state = SharedState(State())
        self.state = state
        ends = [watchEnd, phoneEnd]
        @Sendable func send(_ message: [UInt8], _ direction: Int) async throws {
            while state.mutex.withLock({ $0.queues[direction].count >= Self.room }) {
                try await Task.sleep(for: .milliseconds(1))
            }
            state.mutex.withLock {
                $0.queues[direction].append(message)
                $0.longest = max($0.longest, message.count)
            }
        }
        phone = MessageLink(receiving: toPhone) { try await send($0, 0) }
        watch = MessageLink(receiving: toWatch) { try await send($0, 1) }
    }

    var longest: Int { state.mutex.withLock { $0.longest } }

    /// Carries until the task is cancelled, or all is lost.
    func run() async {
        defer { ends.forEach { $0.finish() } }
        var tick = 0
        while !Task.isCancelled, state.mutex.withLock({ $0.count < lostAfter }) {
            try? await Task.sleep(for: .milliseconds(1))
            tick += 1
            for direction in [0, 1] {
                for message in state.mutex.withLock({ taken(&$0, direction, tick) }) { ends[direction].yield(message) }
            }
        }
    }

    private func taken(_ state: inout State, _ direction: Int, _ tick: Int) -> [[UInt8]] {
        let queue = state.queues[direction]
        let count: Int
        switch habit {
        case .prompt, .doubled, .disordered: count = queue.count
        case .late: count = Int.random(in: 0...9, using: &state.random) == 0 ? min(1, queue.count) : 0
        case .inBursts: count = tick % 15 == 0 ? queue.count : 0
        case .oneDirectionAtATime: count = tick / 8 % 2 == direction ? queue.count : 0
        }
        var batch = Array(queue.prefix(min(count, lostAfter - min(lostAfter, state.count))))
        state.queues[direction].removeFirst(batch.count)
        state.count += batch.count
        defer { state.before[direction] = batch }
        switch habit {
        case .doubled: batch = (state.before[direction] + batch + batch).shuffled(using: &state.random)
        case .disordered: batch.shuffle(using: &state.random)
        case .prompt, .late, .inBursts, .oneDirectionAtATime: break
        }
        return batch
    }
}

/// A mutex that several values can refer to.
private final class SharedState<Value: Sendable>: Sendable {
    let mutex: Mutex<Value>
    init(_ value: sending Value) { mutex = Mutex(value) }
}
