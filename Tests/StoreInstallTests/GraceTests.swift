import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// What was current until a moment ago stays for a moment: somebody may be on the way from the public name to it.
@Suite struct GraceTests {
    private let content: InboxContent
    private let name: StoreName

    init() throws {
        content = try InboxContent()
        name = try #require(StoreName("Recipes"))
    }

    private func install(_ numbers: ClosedRange<Int>, with installer: Installer) async throws {
        for number in numbers { try await Shipment("\(number)").install(with: installer) }
    }

    private func waitUntil(_ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while !condition(), .now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        #expect(condition())
    }

    @Test func `whoever has resolved the public name opens what it led to`() async throws {
        let installer = try content.installer(keeping: 1, grace: .seconds(2))
        try await install(1...1, with: installer)
        let resolved = try PlatformCalls.realPath(of: content.root.appending("Recipes.sqlite"))
        try await install(2...2, with: installer)
        let start = ContinuousClock.now
        #expect(content.text("Recipes.sqlite") == "2")
        #expect(try OpenFile.reading(resolved).size > 0)
        // It goes by itself, and nothing stays that speaks of it.
        try await waitUntil { content.numbers == [2] }
        #expect(ContinuousClock.now - start > .milliseconds(1500))
        try await waitUntil { !FileManager.default.fileExists(atPath: content.store.appending("left.json").string) }
    }

    @Test func `who is stopped while he makes room does not wait for it`() async throws {
        let installer = try content.installer(keeping: 1, grace: .seconds(60))
        try await install(1...2, with: installer)
        let start = ContinuousClock.now
        let task = Task.detached {
            withUnsafeCurrentTask { $0?.cancel() }
            return try installer.reclaimSpace()
        }
        #expect(try await !task.value)
        #expect(.now - start < .seconds(30) && content.numbers == [1, 2])
    }

    @Test func `at most two stay for that reason`() async throws {
        let installer = try content.installer(keeping: 1, grace: .seconds(60))
        try await install(1...5, with: installer)
        #expect(content.numbers == [3, 4, 5])
        try await install(6...6, with: installer)
        #expect(content.numbers == [4, 5, 6])
    }

    @Test func `the next start removes what no longer has a reason to stay`() async throws {
        do { try await install(1...3, with: try content.installer(keeping: 1, grace: .seconds(60))) }
        #expect(content.numbers == [1, 2, 3])
        // It was a moment ago still: the start knows it from the one before.
        _ = try content.installer(keeping: 1, grace: .seconds(60))
        #expect(content.numbers == [1, 2, 3])
        _ = try content.installer(keeping: 1, grace: .nanoseconds(1))
        #expect(content.numbers == [3])
    }

    @Test func `a step back leaves a generation too`() async throws {
        let installer = try content.installer(keeping: 2, grace: .seconds(60))
        try await install(1...2, with: installer)
        do {
            let storeLock = try StoreLock(of: name, in: Inbox(at: content.root))
            try storeLock.take(storeLock.step(to: nil), at: try #require(Timestamp("2026-11-20T12:00:00Z")))
        }
        let pruned = try StoreLock(of: name, in: Inbox(at: content.root))
            .prune(Retention(count: 1, grace: .seconds(60)))
        #expect(pruned.removed == [] && pruned.rest != nil)
        #expect(content.numbers == [1, 2])
    }

    @Test func `those left last are spared, for the rest of their time`() throws {
        let names = try (1...4).map { try #require(GenerationName("\($0)-00000000")) }
        let ages: [Int: Duration] = [1: .seconds(1), 2: .milliseconds(500), 3: .milliseconds(1500), 4: .seconds(3)]
        let spared = Retention(count: 1).spared(of: names) { ages[$0.number] }
        #expect(spared == [names[0]: .seconds(1), names[1]: .milliseconds(1500)])
    }

    @Test func `what was left before the system's start, or at a time to come, has no reason to stay`() throws {
        let generation = try #require(GenerationName("1-00000000"))
        let record = LeftRecord.empty.leaving(generation, grace: .seconds(2), at: .seconds(100))
        #expect(record.age(of: generation, at: .seconds(101)) == .seconds(1))
        #expect(record.age(of: generation, at: .seconds(99)) == nil)
        #expect(record.isOver(grace: .seconds(2), at: .seconds(99)))
        #expect(!record.isOver(grace: .seconds(2), at: .seconds(101)))
        let later = try #require(GenerationName("2-00000000"))
        #expect(
            record.leaving(later, grace: .seconds(2), at: .seconds(103)).age(of: generation, at: .seconds(103)) == nil)
    }

    @Test(arguments: [
        "", "{", "[]", #"{"entries":[{"generation":7,"at":"x"}]}"#, String(repeating: " ", count: 20_000),
    ])
    func `a record that cannot be read says nothing`(text: String) async throws {
        do { try await install(1...2, with: try content.installer(keeping: 1, grace: .seconds(60))) }
        try Data(text.utf8).write(to: URL(fileURLWithPath: content.store.appending("left.json").string))
        _ = try content.installer(keeping: 1, grace: .seconds(60))
        #expect(content.numbers == [2])
    }

    @Test(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
    func `what stays for a moment is no reason to refuse a shipment for want of room`() async throws {
        try await SmallDisk.with(size: "5m") { disk in
            let installer = try Installer(
                inbox: Inbox(at: disk.appending("inbox")), keeping: Retention(count: 1), leavingFree: 0)
            for number in 1...2 {
                try await Shipment("\(number)" + String(repeating: "x", count: 2_000_000)).install(with: installer)
            }
            let third = try Shipment("3" + String(repeating: "x", count: 2_000_000))
            #expect(throws: InboxError.self) { try installer.stage(third.manifest, present: [:]).bytesToCome }
            #expect(try installer.reclaimSpace())
            try await third.install(with: installer)
            #expect(try installer.reclaimSpace())
            #expect(try !installer.reclaimSpace())
        }
    }
}
