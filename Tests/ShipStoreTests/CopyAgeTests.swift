import Foundation
import GRDB
import ShipLinks
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import StoreInbox
import StoreServing
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// A store that is written to and followed, while links are slow and break and either side ends and begins again: at every moment the
/// copy has what was committed before the time that it is said to be as of.
@Suite(.serialized) struct CopyAgeTests {
    @Test(arguments: 0..<UInt64(Soak.isOn ? 40 : 4))
    func `a copy has all that was committed before its time`(seed: UInt64) async throws {
        let round = try AgeRound(seed: seed, delay: 150, replays: false)
        try await round.run(for: .seconds(5))
    }

    /// A link that says again what it has heard before.
    @Test(arguments: 0..<UInt64(Soak.isOn ? 20 : 2))
    func `an old answer to another question makes no copy younger`(seed: UInt64) async throws {
        let round = try AgeRound(seed: seed, delay: 100, replays: true)
        try await round.run(for: .seconds(4))
    }

    /// A shipment answers the question that led to it, and is older than that when it is here.
    @Test func `a limit that a shipment does not keep is kept by the next question`() async throws {
        let round = try AgeRound(seed: 3, delay: 60, replays: false)
        try await round.withSession {
            while try !round.coordinator.asOf("Recipes").isConnected { try await Task.sleep(for: .milliseconds(5)) }
            for number in 1...8 {
                try await round.commit()
                // What is younger need not be there.
                try await Task.sleep(for: .milliseconds(120))
                let found = try await round.coordinator.read(
                    "Recipes", noOlderThan: .milliseconds(100), waiting: .seconds(60)
                ) { try Int.fetchOne($0, sql: "SELECT n FROM tick") }
                #expect(found == number)
            }
        }
    }

    @Test func `many reads share a watch and a question`() async throws {
        let round = try AgeRound(seed: 4, delay: 0, replays: false)
        try await round.withSession {
            while try round.coordinator.asOf("Recipes").age == nil { try await Task.sleep(for: .milliseconds(5)) }
            try await Task.sleep(for: .milliseconds(600))
            let before = (try Folder.names(in: "/proc/self/fd").count, round.questions)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<200 {
                    group.addTask {
                        _ = try await round.coordinator.asOf(
                            "Recipes", noOlderThan: .milliseconds(500), waiting: .seconds(60))
                        return try Folder.names(in: "/proc/self/fd").count
                    }
                }
                let most = try await group.reduce(0) { max($0, $1) }
                #expect(most < before.0 + 100)
            }
            #expect(round.questions < before.1 + 50)
        }
    }

    @Test func `a quiet session asks once, and then only when somebody wants to know`() async throws {
        let round = try AgeRound(seed: 1, delay: 0, replays: false)
        try await round.withSession {
            while try round.coordinator.asOf("Recipes").age == nil { try await Task.sleep(for: .milliseconds(5)) }
            // What a busy machine notices late is shipped, and asked about, once more.
            var asked = 0
            while round.questions != asked {
                asked = round.questions
                try await Task.sleep(for: .milliseconds(400))
            }
            #expect(asked <= round.receipts)
            _ = try await round.coordinator.asOf("Recipes", noOlderThan: .seconds(10))
            try await Task.sleep(for: .milliseconds(300))
            #expect(round.questions == asked)
            let age = try round.coordinator.asOf("Recipes")
            #expect(age.isConnected)
            let exact = try #require(age.age)
            #expect(exact >= .milliseconds(300))
            let young = try await round.coordinator.asOf("Recipes", noOlderThan: .milliseconds(200))
            #expect(young.isWithin(.milliseconds(200)))
            #expect(round.questions == asked + 1)
            let count = try await round.coordinator.read("Recipes", noOlderThan: .seconds(60)) {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM tick")
            }
            #expect(count == 1)
            #expect(round.questions == asked + 1)
        }
        let after = try round.coordinator.asOf("Recipes")
        #expect(!after.isConnected)
        #expect(after.age != nil)
        let start = ContinuousClock.now
        await #expect(throws: CoordinatorError.self) {
            try await round.coordinator.read("Recipes", noOlderThan: .milliseconds(1)) { _ in 0 }
        }
        // Nobody is there to be asked.
        #expect(ContinuousClock.now - start < .seconds(2))
    }
}

/// One seed.
private final class AgeRound: Sendable {
    let coordinator: StoreCoordinator
    private let seed: UInt64
    private let scratch: ScratchFolder
    private let store: FilePath
    private let inbox: FilePath
    private let delay: Int
    private let replays: Bool
    private let queue: DatabaseQueue
    private let random: Mutex<RepeatableRandom>
    /// When each commit was done, by the clock of the ages.
    private let commits = Mutex<[Duration]>([])
    private let asked = Atomic(0)
    private let acknowledged = Atomic(0)
    private let known = Atomic(0)
    private let reads = Atomic(0)

    init(seed: UInt64, delay: Int, replays: Bool) throws {
        (self.seed, self.delay, self.replays) = (seed, delay, replays)
        random = Mutex(RepeatableRandom(seed: seed))
        scratch = try ScratchFolder()
        store = scratch.path.appending("Recipes.sqlite")
        inbox = scratch.path.appending("inbox")
        queue = try DatabaseQueue(path: store.string)
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: "PRAGMA journal_mode = WAL; CREATE TABLE tick(n INTEGER); INSERT INTO tick VALUES (0)")
        }
        coordinator = StoreCoordinator(inbox: inbox)
    }

    private static let mostTime = Duration.seconds(60)
    private var hasSeenEnough: Bool { known.load(ordering: .relaxed) > 50 && reads.load(ordering: .relaxed) > 0 }
    var questions: Int { asked.load(ordering: .relaxed) }
    var receipts: Int { acknowledged.load(ordering: .relaxed) }

    private func number(_ range: ClosedRange<Int>) -> Int {
        random.withLock { Int.random(in: range, using: &$0) }
    }

    // MARK: Sides

    private func follower() throws -> StoreFollower {
        var following = Following()
        (following.settling, following.shareOfCopying) = (.milliseconds(20), 0.5)
        let producer = Producer(store)
        let watched = try WatchedStores(of: producer, following, isShared: false)
        return StoreFollower(producer, following, watched) { _ in }
    }

    private func session(_ follower: StoreFollower, _ consumer: Consumer, lasting time: Duration?) async {
        let wait = delay
        let lateness: @Sendable () -> Duration = { [self] in .milliseconds(wait == 0 ? 0 : number(0...wait)) }
        let down = SlowPipe(cutAfter: time != nil && number(0...3) == 0 ? number(10...3000) : .max, lateness)
        let up = SlowPipe(lateness)
        let last = Mutex<[UInt8]?>(nil)
        down.watcher.withLock { watcher in
            watcher = { [replays] message in
                if replays, message.first == FrameType.newest.rawValue { last.withLock { $0 = message } }
            }
        }
        up.watcher.withLock { watcher in
            watcher = { [self] message in
                if message.first == FrameType.receipt.rawValue { acknowledged.wrappingAdd(1, ordering: .relaxed) }
                guard message.first == FrameType.question.rawValue else { return }
                asked.wrappingAdd(1, ordering: .relaxed)
                if let old = last.withLock({ $0 }) { down.put(old) }
            }
        }
        let sends = PeerLink(direction: .twoWay, reader: up, writer: down, peer: .carried("a receiver"))
        let receives = PeerLink(direction: .twoWay, reader: down, writer: up, peer: .carried("a sender"))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await follower.session(over: sends, with: "a receiver") }
            group.addTask { _ = try? await consumer.receive(over: receives, .atOnce) { _ in } }
            if let time { group.addTask { try? await Task.sleep(for: time) } }
            await group.next()
            down.cut()
            up.cut()
            group.cancelAll()
        }
    }

    func withSession(_ body: () async throws -> Void) async throws {
        let (follower, consumer) = (try follower(), try Consumer(inbox: inbox))
        let task = Task { await session(follower, consumer, lasting: nil) }
        while (try? coordinator.asOf("Recipes")) == nil { try await Task.sleep(for: .milliseconds(5)) }
        try await body()
        task.cancel()
        await task.value
    }

    private func serve() async throws {
        var (follower, consumer) = (try follower(), Optional(try Consumer(inbox: inbox)))
        while !Task.isCancelled {
            if let consumer { await session(follower, consumer, lasting: .milliseconds(number(100...2500))) }
            switch number(0...3) {
            case 0: follower = try self.follower()
            case 1:
                consumer = nil
                consumer = try Consumer(inbox: inbox)
            default: break
            }
        }
    }

    // MARK: The app, and readers

    func commit() async throws {
        try await queue.write { try $0.execute(sql: "UPDATE tick SET n = n + 1") }
        commits.withLock { $0.append(PlatformCalls.timeSinceStart) }
    }

    private func write() async throws {
        while !Task.isCancelled {
            try await commit()
            try await Task.sleep(for: .milliseconds(number(0...4) == 0 ? number(300...900) : number(0...60)))
        }
    }

    /// - Parameter time: The copy has what was committed before.
    private func check(_ found: Int, hasAllBefore time: Duration, _ what: String) {
        let needed = commits.withLock { commits in commits.count { $0 < time } }
        #expect(found >= needed, "seed \(seed): \(what) has \(found) of \(needed) commits")
    }

    private func look() async throws {
        let inbox = Inbox(at: inbox)
        while !Task.isCancelled {
            if let pin = try? coordinator.pin("Recipes") {
                let found = try await pin.read { try Int.fetchOne($0, sql: "SELECT n FROM tick") ?? 0 }
                let now = PlatformCalls.timeSinceStart
                let name = GenerationName(number: pin.generation.number, digest: pin.manifest.store.sha256)
                if let age = try inbox.open().age(of: name, pin.manifest.name).age {
                    known.wrappingAdd(1, ordering: .relaxed)
                    check(found, hasAllBefore: now - age, "what is \(age) old")
                }
            }
            try await Task.sleep(for: .milliseconds(3))
        }
    }

    private func read() async throws {
        while !Task.isCancelled {
            let (limit, now) = (Duration.milliseconds(number(100...800)), PlatformCalls.timeSinceStart)
            do {
                let found = try await coordinator.read("Recipes", noOlderThan: limit, waiting: .milliseconds(700)) {
                    try Int.fetchOne($0, sql: "SELECT n FROM tick") ?? 0
                }
                reads.wrappingAdd(1, ordering: .relaxed)
                check(found, hasAllBefore: now - limit, "what was read")
            } catch let error as CoordinatorError {
                switch error {
                case .tooOld, .noSuchStore, .inbox: break
                default: throw error
                }
            }
            try await Task.sleep(for: .milliseconds(number(0...100)))
        }
    }

    func run(for time: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for work in [serve, write, look, read] {
                group.addTask {
                    do {
                        try await work()
                    } catch  where Task.isCancelled {}
                }
            }
            group.addTask { [self] in
                try await Task.sleep(for: time)
                // A machine that is busy gets as far later.
                let end = ContinuousClock.now + Self.mostTime
                while !hasSeenEnough, .now < end { try await Task.sleep(for: .milliseconds(50)) }
            }
            try await group.next()
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(hasSeenEnough, "seed \(seed)")
        // Once all is quiet, the source is asked, and the copy is the newest.
        let follower = try follower()
        let consumer = try Consumer(inbox: inbox)
        let count = commits.withLock { $0.count }
        let task = Task { await session(follower, consumer, lasting: nil) }
        var found = 0
        let end = ContinuousClock.now + .seconds(20)
        while found < count, .now < end {
            let read = try? await coordinator.read("Recipes", noOlderThan: .seconds(1), waiting: .seconds(3)) {
                try Int.fetchOne($0, sql: "SELECT n FROM tick") ?? 0
            }
            found = read ?? found
            try await Task.sleep(for: .milliseconds(50))
        }
        #expect(found == count, "seed \(seed)")
        task.cancel()
        await task.value
    }
}
