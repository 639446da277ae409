import Foundation
import SystemPackage
import TestSupport
import Testing

/// Random commands on desks where names collide: whatever they are and wherever one is killed, every byte that no command
/// named is what it was, and what a command says it has done, it has. What a command may touch says `RandomCommand.touch`.
///
/// `SHIP_STORE_SEED` names one desk, to see a failure again.
@Suite struct RandomCommandTests {
    /// How long desks are made.
    private static let time = Soak.isOn ? Duration.seconds(3600) : .seconds(25)
    private static let commandsPerDesk = 16
    /// After so many there is enough to look at.
    private static let failureLimit = Soak.isOn ? 50 : 10

    @Test func `what no command names stays as it is`() async throws {
        let memory = try ScratchFolder.inMemory()
        let hasShim = try await FaultShim.isAvailable()
        let help = try await BuiltProgram.run(["--help"])
        let extras = Set(["forget"].filter { help.stdout.contains("  \($0) ") })
        let seeds = Self.seeds
        let end = ContinuousClock.now + Self.time
        var (desks, commands, failures) = (0, 0, 0)
        for seed in seeds {
            guard .now < end, failures < Self.failureLimit else { break }
            let round = try RandomRound(seed: seed, in: memory, hasShim: hasShim, extras: extras)
            do {
                try await round.run(steps: Self.commandsPerDesk)
            } catch let violation as RandomRound.Violation {
                failures += 1
                Issue.record("\(violation.words)")
            }
            desks += 1
            commands += round.commandCount
        }
        #expect(commands > 10, "almost nothing was tried")
        print("\(commands) commands on \(desks) desks")
    }

    /// The same in each short run; other ones in each long one.
    private static var seeds: some Sequence<UInt64> {
        if let text = ProcessInfo.processInfo.environment["SHIP_STORE_SEED"], let seed = UInt64(text) {
            return sequence(first: seed) { _ in nil }
        }
        let first = Soak.isOn ? UInt64(Date().timeIntervalSince1970) * 100_000 : 1
        return sequence(first: first) { $0 + 1 }
    }
}
