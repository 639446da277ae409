import Foundation
import GRDB
import RandomStores
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import StoreServing
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Readers, with pins and without, while one generation follows the other and the old ones are pruned.
@Suite struct SwapTests {
    private static let swaps = Soak.isOn ? 10_000 : 1000
    /// As many for each swap, in all.
    private static let reads =
        ProcessInfo.processInfo.environment["SHIP_STORE_READS"].flatMap(Int.init) ?? (Soak.isOn ? 10_000_000 : 0)
    /// Eight processes leave the installer little time.
    private static let swapsAcrossProcesses = Soak.isOn ? 2000 : 300

    @Test func `in one process 32 readers see whole generations, an older one only after a rollback, and no error`()
        async
    {
        // A process of its own, so that its descriptors can be counted.
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let memory = try ScratchFolder.inMemory()
            let inbox = try SampleInbox(keeping: 2, in: memory)
            let store = try NumberedStore(in: memory.path)
            try await inbox.install("Recipes", store.bytes(of: 1))
            let coordinator = StoreCoordinator(inbox: inbox.root)
            #expect(try await coordinator.read { try NumberedStore.number(in: $0) } == 1)
            let before = OpenDescriptors.count
            let readers = Readers(of: coordinator, pause: .milliseconds(SwapTests.reads > 0 ? 1 : 5))
            var random = RepeatableRandom(seed: RandomSeeds.first)
            var (number, rollbacks) = (1, 0)
            await readers.read(with: 32) {
                while number < SwapTests.swaps, readers.failures.isEmpty {
                    if number > 1, Int.random(in: 0..<20, using: &random) == 0 {
                        try readers.rollBack(from: number, in: inbox.installer.inbox)
                        rollbacks += 1
                    }
                    number += 1
                    try await inbox.install("Recipes", store.bytes(of: number))
                    while readers.reads < SwapTests.reads / SwapTests.swaps * number, readers.failures.isEmpty {
                        try await Task.sleep(for: .milliseconds(1))
                    }
                }
            }
            print("\(readers.reads) reads, \(number) generations, \(rollbacks) rollbacks, seed \(RandomSeeds.first)")
            #expect(readers.failures == [])
            #expect(readers.reads > SwapTests.swaps)
            #expect(try await coordinator.read { try NumberedStore.number(in: $0) } == number)
            // The first generation was open then, once, and the last one is now, up to four times. Timers may be new.
            let last = "/generations/\(number)-"
            func isOfLast(_ targets: [String]) -> Bool {
                targets.allSatisfy { $0.contains(last) || !$0.contains("/generations/") }
            }
            let after = try await OpenDescriptors.settle(at: before + 6, where: isOfLast)
            let targets = OpenDescriptors.targets
            #expect(after <= before + 6, "\(before) before: \(targets)")
            #expect(isOfLast(targets), "\(targets)")
            try await inbox.install("Recipes", store.bytes(of: number + 1))
            #expect(inbox.numbers() == [number, number + 1])
        }
        print(String(decoding: result?.standardOutputContent ?? [], as: UTF8.self))
    }

    @Test func `across eight processes they do as well`() async throws {
        try await withTaskExecutorPreference(TestThreads.shared) { try await readAcrossProcesses() }
    }

    private func readAcrossProcesses() async throws {
        let memory = try ScratchFolder.inMemory()
        let inbox = try SampleInbox(keeping: 2, in: memory)
        let store = try NumberedStore(in: memory.path)
        try await inbox.install("Recipes", store.bytes(of: 1))
        let root = inbox.root.string
        try await withThrowingTaskGroup(of: Void.self) { group in
            for process in 0..<8 { group.addTask { await Self.readInAnotherProcess(root, process) } }
            for process in 0..<8 { try await Waiting.untilThere(inbox.root.appending("reading-\(process)")) }
            for number in 2...Self.swapsAcrossProcesses { try await inbox.install("Recipes", store.bytes(of: number)) }
            _ = try OpenFile.creating(inbox.root.appending("done"))
            try await group.waitForAll()
        }
        try await inbox.install("Recipes", store.bytes(of: Self.swapsAcrossProcesses + 1))
        #expect(inbox.numbers() == [Self.swapsAcrossProcesses, Self.swapsAcrossProcesses + 1])
    }

    private static func readInAnotherProcess(_ root: String, _ process: Int) async {
        await #expect(processExitsWith: .success) { [root, process] in
            let root = FilePath(root)
            let coordinator = StoreCoordinator(inbox: root)
            let readers = Readers(of: coordinator, pause: .milliseconds(50))
            let before = OpenDescriptors.count
            await readers.read(with: 4) {
                _ = try OpenFile.creating(root.appending("reading-\(process)"))
                try await Waiting.untilThere(root.appending("done"), atMost: .seconds(200))
            }
            #expect(readers.failures == [])
            // A few for each of them, however little of a core it has.
            #expect(readers.reads > 8)
            // The last swap may have closed what the last reader read.
            _ = try await coordinator.read { try NumberedStore.number(in: $0) }
            // Nothing was open then; one generation is now, its folder and up to four times its store, and what timers need.
            func generations(_ targets: [String]) -> Set<Substring> {
                Set(targets.compactMap { $0.firstMatch(of: /\/generations\/([^\/]+)/)?.output.1 })
            }
            let after = try await OpenDescriptors.settle(at: before + 10) { generations($0).count == 1 }
            let targets = OpenDescriptors.targets
            #expect(after <= before + 10, "\(before) before: \(targets)")
            #expect(generations(targets).count == 1, "\(targets)")
            withExtendedLifetime(coordinator) {}
        }
    }
}

/// Readers of one coordinator, and what was wrong with what they saw.
private final class Readers: Sendable {
    private struct Story {
        var reads = 0
        var failures: [String] = []
        var isOver = false
        /// Which generation an operator went back to, from which one.
        var rollbacks: [Int: Int] = [:]
    }

    private let coordinator: StoreCoordinator
    private let story = Mutex(Story())
    private let pause: Duration

    /// - Parameter pause: Between two reads of a reader.
    init(of coordinator: StoreCoordinator, pause: Duration) {
        self.coordinator = coordinator
        self.pause = pause
    }

    var reads: Int { story.withLock { $0.reads } }
    var failures: [String] { story.withLock { $0.failures } }

    /// Reads for as long as `body` runs: a quarter blocks, a quarter does not, half of them pin.
    func read(with count: Int, while body: () async throws -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { await self.readOnAndOn(number) } }
            do {
                try await body()
            } catch {
                note(error)
            }
            story.withLock { $0.isOver = true }
        }
    }

    /// Goes back by one generation, and lets others come in.
    func rollBack(from current: Int, in inbox: Inbox) throws {
        let storeLock = try StoreLock(of: try #require(StoreName("Recipes")), in: inbox)
        let step = try storeLock.step(to: nil)
        story.withLock { $0.rollbacks[step.to.number] = current }
        try storeLock.take(step, at: Timestamp(Date()))
        _ = try storeLock.allowEverything()
    }

    /// The reader that saw `last` sees this one.
    private func noteRead(of number: Int, after last: Int) {
        story.withLock { story in
            story.reads += 1
            guard number < last, story.rollbacks[number, default: 0] < last else { return }
            story.failures.append("from \(last) back to \(number)")
        }
    }

    private func note(_ error: any Error) { story.withLock { $0.failures.append("\(error)") } }

    private func readOnAndOn(_ number: Int) async {
        var last = 0
        while !story.withLock({ $0.isOver }) {
            do {
                let seen = number % 4 < 2 ? try await readOnce(number) : try await readTwiceThroughAPin()
                noteRead(of: seen, after: last)
                last = seen
            } catch {
                note(error)
            }
            // Else they would leave no time to install anything.
            try? await Task.sleep(for: pause)
        }
    }

    private func readOnce(_ number: Int) async throws -> Int {
        number % 4 == 0
            ? try blockingRead() : try await coordinator.read("Recipes") { try NumberedStore.number(in: $0) }
    }

    private func blockingRead() throws -> Int { try coordinator.read { try NumberedStore.number(in: $0) } }

    private func readTwiceThroughAPin() async throws -> Int {
        let pin = try coordinator.pin()
        let first = try await pin.read { try NumberedStore.number(in: $0) }
        await Task.yield()
        let second = try await pin.read { try NumberedStore.number(in: $0) }
        if first != second || first != pin.generation.number {
            note(NumberedStore.Mixed(header: pin.generation.number, pages: ["\(first)", "\(second)"]))
        }
        return second
    }
}
