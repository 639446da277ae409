import Dispatch
import Foundation
import Testing

@testable import ShipStore

@Suite struct `Work that blocks` {
    @Test func `holds up neither other tasks nor more work like it`() async throws {
        // Threads that are shared are added one a second once all of them block: that is too late.
        let count = ProcessInfo.processInfo.activeProcessorCount + 6
        let deadline = ContinuousClock.now + .seconds(4)
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let blocking = (0..<count).map { _ in
            Task(executorPreference: BlockingExecutor.shared) {
                begun.signal()
                return Self.wait(for: end, atMost: 20)
            }
        }
        // Ends them all, once all have begun and a task that shares its threads with others has run.
        let others = Task { await Self.hasBegun(begun, times: count, by: deadline) }
        let allBegan = await others.value
        for _ in 0..<count { end.signal() }
        #expect(allBegan)
        for task in blocking { #expect(await task.value) }
    }

    private static func hasBegun(
        _ semaphore: DispatchSemaphore, times: Int, by deadline: ContinuousClock.Instant
    ) async -> Bool {
        var count = 0
        while count < times, .now < deadline {
            if wait(for: semaphore, atMost: 0) { count += 1 } else { try? await Task.sleep(for: .milliseconds(2)) }
        }
        return count == times && .now < deadline
    }

    private static func wait(for semaphore: DispatchSemaphore, atMost seconds: Double) -> Bool {
        semaphore.wait(timeout: .now() + seconds) == .success
    }
}
