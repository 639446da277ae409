import DeviceTrust
import Dispatch
import Foundation
import ShipLinks
import ShipStoreNetwork
import StoreFiles
import SystemPackage
import TestSupport
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

    @Test func `waits for who else draws a number, and others of the process go on`() async throws {
        let round = try PublicationRound(seed: 1)
        try await round.publish()
        let publisher = try round.publisher()
        try await Self.expectOthersGoOn(whileLocked: round.scratch.path.appending("phone0")) {
            _ = try await publisher.halt([])
        }
    }

    @Test func `waits for who else makes the identity, and others of the process go on`() async throws {
        let scratch = try ScratchFolder()
        let folder = try scratch.folder("phone")
        let (phone, code, endpoint) = (Device(folder: folder), PairingCode(), try Endpoint("127.0.0.1:1"))
        try await Self.expectOthersGoOn(whileLocked: folder) { _ = try await phone.pair(with: endpoint, code) }
    }

    /// - Parameter work: Waits for the lock.
    private static func expectOthersGoOn(
        whileLocked folder: FilePath, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        let waiting: [Task<Void, any Error>]
        do {
            let lock = try FolderLock.take(.exclusive, on: folder)
            defer { withExtendedLifetime(lock) {} }
            let start = ContinuousClock.now
            // More than there are threads for all tasks together.
            waiting = (0...ProcessInfo.processInfo.activeProcessorCount).map { _ in Task { try await work() } }
            try await Task.sleep(for: .milliseconds(300))
            #expect(ContinuousClock.now - start < .seconds(10))
        }
        for task in waiting { _ = await task.result }
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
