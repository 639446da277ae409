import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// When a generation was the newest for certain.
@Suite struct AgeTests {
    private let content: InboxContent
    private let installer: Installer
    private var folder: InboxFolder { installer.folder }
    private let name: StoreName

    init() throws {
        content = try InboxContent()
        name = try #require(StoreName("Recipes"))
        installer = try content.installer()
    }

    private func install(_ store: String) async throws -> GenerationName {
        _ = try await Shipment(store).install(with: installer)
        return try #require(try folder.currentName(of: name))
    }

    @Test func `an age is of one generation, and what is known later makes it younger only`() async throws {
        let first = try await install("1")
        let start = PlatformCalls.timeSinceStart
        installer.note(asOf: start - .seconds(10), first, of: name)
        installer.note(asOf: start - .seconds(20), first, of: name)
        let age = try #require(folder.age(of: first, name).age)
        #expect(age >= .seconds(10) && age < .seconds(20))
        let second = try await install("2")
        #expect(folder.age(of: second, name).age == nil)
        // An answer about the one before comes late.
        installer.note(asOf: start, first, of: name)
        #expect(folder.age(of: second, name).age == nil)
        installer.note(asOf: start, second, of: name)
        #expect(folder.age(of: second, name).isWithin(.seconds(10)))
        #expect(folder.age(of: first, name).age == nil)
        #expect(content.staging == [])
    }

    /// Whatever happens to the clocks, nothing seems younger than it is.
    @Test(arguments: 0..<UInt64(8))
    func `clocks that are set, stand still or begin anew make nothing younger`(seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        let generation = try await install("1")
        for _ in 0..<500 {
            let (sinceStart, wallTime) = (Int64.random(in: 0...100_000, using: &random), Int64(1_700_000_000_000))
            let before = AgeRecord.Clocks(
                sinceStart: .milliseconds(sinceStart), start: "one", wallTime: .milliseconds(wallTime))
            let asked = Int64.random(in: 0...sinceStart, using: &random)
            let record = AgeRecord(of: generation, asOf: before.back(to: .milliseconds(asked)))
            // The truth: how long it was since, how much of that a machine stood still, and how the clock on the wall was set.
            let passed = Int64.random(in: 0...100_000, using: &random)
            let still = Bool.random(using: &random) ? 0 : Int64.random(in: 0...passed, using: &random)
            let set = Bool.random(using: &random) ? 0 : Int64.random(in: -200_000...200_000, using: &random)
            let hasRestarted = Int.random(in: 0...9, using: &random) == 0
            let now = AgeRecord.Clocks(
                sinceStart: .milliseconds(sinceStart + passed - still), start: hasRestarted ? "two" : "one",
                wallTime: .milliseconds(wallTime + passed + set))
            guard let age = record.age(of: generation, at: now) else {
                // Only a clock that goes back makes it unknown, or a start.
                #expect(hasRestarted || wallTime + passed + set < wallTime - (sinceStart - asked), "seed \(seed)")
                continue
            }
            #expect(!hasRestarted, "seed \(seed)")
            // One clock may be wrong; then the other one is right.
            if still == 0 || set >= 0 {
                #expect(age >= .milliseconds(sinceStart - asked + passed), "seed \(seed)")
            }
        }
    }
}
