import Foundation
import RandomStores
import SystemPackage
import TestSupport
import Testing

/// Stores that nobody chose, and their changes, through the codec. `SHIP_STORE_SEED` names the one to see again, `SHIP_STORE_SECONDS`
/// says how long others are made.
@Suite struct RandomStoreTests {
    @Test func `stores that nobody chose come back, and so do their changes`() async throws {
        let folder = try ScratchFolder()
        var work = CodecWork(folder: folder.path.string, seed: RandomSeeds.first)
        let end = ContinuousClock.now + RandomSeeds.time(short: 40, long: 3600)
        var (cases, failures) = (0, [String]())
        repeat {
            work.seconds = (end - .now) / .seconds(1)
            // A trap ends a process: one that is not this one.
            let hasEnded = await Self.hasEnded(work)
            guard let seed = work.current else { break }
            cases += Int(seed - work.seed) + 1
            failures += try work.takeFailures()
            if !hasEnded { failures.append(try await Self.storyOfTrap(seed, work)) }
            work.seed = seed + 1
        } while .now < end && failures.count < CodecWork.failureLimit && !RandomSeeds.isOne
        for failure in failures { Issue.record("\(failure)") }
        #expect(cases > 0)
        print("\(cases) stores, from seed \(RandomSeeds.first) on")
    }

    /// A long value that says the same again and again takes far more at the least effort.
    @Test func `a delta that is larger than the store does not go, however large that is at the least effort`()
        async throws
    {
        try await CodecCheck(isThorough: false).check(RandomCase(seed: 179_584_677_701_521))
    }

    /// Works in a process of its own.
    private static func hasEnded(_ work: CodecWork) async -> Bool {
        var hasEnded = false
        await withKnownIssue(isIntermittent: true) {
            let result = await #expect(processExitsWith: .success) { [work = work as CodecWork] in try await work.run()
            }
            hasEnded = result != nil
        }
        return hasEnded
    }

    /// Makes the case smaller, each time in a process of its own.
    private static func storyOfTrap(_ seed: UInt64, _ work: CodecWork) async throws -> String {
        let small = try await RandomCase(seed: seed).shrunk(until: .now + .seconds(60)) { smaller in
            try smaller.json.write(to: work.file("case"))
            return await !hasEnded(work.onOneCase)
        }
        return try work.story(seed, small, "the process ended")
    }
}
