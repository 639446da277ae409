import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// Which generations go, and which a reader keeps.
@Suite struct PruningTests {
    private let content: InboxContent
    private let inbox: Inbox
    private let name: StoreName

    init() throws {
        content = try InboxContent()
        inbox = Inbox(at: content.root)
        name = try #require(StoreName("Recipes"))
    }

    private func install(_ count: Int) async throws {
        let installer = try content.installer(keeping: 100)
        for number in 1...count { try await Shipment("\(number)").install(with: installer) }
    }

    private func folder(_ number: Int) throws -> FilePath {
        let name = try #require(content.generations.first { $0.hasPrefix("\(number)-") })
        return content.store.appending("generations").appending(name)
    }

    private func names(_ numbers: ClosedRange<Int>) throws -> [GenerationName] {
        try numbers.map { try #require(GenerationName("\($0)-00000000")) }
    }

    @Test(
        arguments: [
            (1, nil, 5, [1, 2, 3, 4]), (2, nil, 5, [1, 2, 3]), (9, nil, 5, []), (0, nil, 5, [1, 2, 3, 4]),
            (2, nil, 1, [2, 3, 4]), (1, 25, 5, [1, 2, 3]), (1, 20, 5, [1, 2, 3]), (3, 5, 5, [1, 2]), (1, 500, 5, []),
        ] as [(Int, Int?, Int, [Int])])
    func `what is beyond the newest goes once it is old enough`(
        count: Int, days: Int?, current: Int, gone: [Int]
    ) throws {
        let all = try names(1...5)
        let retention = Retention(count: count, duration: days.map { .seconds($0 * 86_400) })
        // Installed 50, 40, 30, 20 and 10 days ago; 20 is not longer ago than 20.
        let superfluous = retention.superfluous(of: all, current: all[current - 1]) { generation in
            .seconds((6 - generation.number) * 10 * 86_400)
        }
        #expect(superfluous.map(\.number) == gone)
    }

    /// What was installed at random times, each change pruned at once.
    @Test(arguments: [(3, 1.0), (4, 1.0), (5, 60.0), (7, 3600.0), (2, 1.0), (4, 100_000.0)])
    func `of many changes the ones stay that tell most of the last day`(count: Int, seconds: Double) throws {
        let retention = Retention(count: count)
        var random = RepeatableRandom(seed: UInt64(count))
        var (now, kept): (Double, [(name: GenerationName, time: Double)]) = (0, [])
        var (oldest, second): ([Double], [Double]) = ([], [])
        for number in 1...4000 {
            now += seconds * Double.random(in: 0.5...1.5, using: &random)
            kept.append((try #require(GenerationName("\(number)-00000000")), now))
            let before = kept
            let gone = retention.superfluous(of: kept.map(\.name), current: kept.last?.name) { name in
                .seconds(now - (before.first { $0.name == name }?.time ?? now))
            }
            kept.removeAll { gone.contains($0.name) }
            guard number > 100 else { continue }
            #expect(kept.count == count)
            // One step back is there.
            #expect(kept.suffix(2).map(\.name.number) == [number - 1, number])
            let ages = kept.dropLast().map { now - $0.time }
            oldest.append(ages.first ?? 0)
            second.append(ages.dropFirst().first ?? 0)
        }
        let (first, next) = (oldest.sorted()[oldest.count / 2], second.sorted()[second.count / 2])
        switch (count, seconds) {
        case (2, _): #expect(first < 3)
        case (_, 100_000.0): #expect((2.0...4.0).contains(first / seconds))
        default: #expect(first > 900 && (count == 3 || (20...(first * 0.9)).contains(next)), "\(first) \(next)")
        }
    }

    @Test func `one that a reader holds stays, and goes at the next pruning`() async throws {
        try await install(4)
        let reader = try FolderLock.take(.shared, on: try folder(2))
        let held = try #require(
            try StoreLock(of: name, in: inbox).superfluous(Retention(count: 1)).dropFirst().first)
        let outcome = try StoreLock(of: name, in: inbox).prune(Retention(count: 1, grace: .zero))
        #expect(outcome.removed.map(\.number) == [1, 3])
        #expect(outcome.held == [held])
        #expect(content.numbers == [2, 4])
        withExtendedLifetime(reader) { _ in }
        _ = consume reader
        try StoreLock(of: name, in: inbox).prune(Retention(count: 1, grace: .zero))
        #expect(content.numbers == [4])
        #expect(content.staging == [])
    }

    @Test(arguments: [false, true], [1, 3])
    func `while what is current is lost nothing goes`(dangles: Bool, count: Int) async throws {
        try await install(4)
        let current = content.store.appending("current")
        if dangles { try Folder.removeTree(at: try folder(4)) } else { try PlatformCalls.removeFile(current) }
        let left = content.numbers
        let retention = Retention(count: count, grace: .zero)
        #expect(try StoreLock(of: name, in: inbox).prune(retention).removed == [])
        let installer = try content.installer(keeping: count)
        #expect(try !installer.reclaimSpace())
        #expect(content.numbers == left)
        try await Shipment("5").install(with: installer)
        #expect(content.numbers.count == count)
    }

    @Test func `an installation prunes by age too`() async throws {
        try await install(3)
        let long = Date(timeIntervalSinceNow: -8 * 86_400)
        for number in [1, 3] {
            try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: try folder(number).string)
        }
        let installer = try Installer(
            inbox: inbox, keeping: Retention(count: 1, duration: .seconds(7 * 86_400), grace: .zero))
        #expect(content.numbers == [2, 3])
        try await Shipment("4").install(with: installer)
        #expect(content.numbers == [2, 4])
    }

    @Test func `whoever changes a store waits for who does already, and not for ever`() async throws {
        try await install(2)
        let storeLock = try StoreLock(of: name, in: inbox)
        let patience = Duration.milliseconds(50)
        #expect(throws: InboxError.storeBusy(name, waited: patience)) {
            _ = try StoreLock(of: name, in: inbox, timeout: patience)
        }
        let waiting = Task.detached { [name, inbox] in
            try StoreLock(of: name, in: inbox).prune(Retention(count: 1, grace: .zero)).removed.map(\.number)
        }
        withExtendedLifetime(storeLock) { _ in }
        _ = consume storeLock
        #expect(try await waiting.value == [1])
    }

    @Test func `what somebody who died in the middle of a change has left goes`() async throws {
        try await install(1)
        let staging = content.store.appending("staging")
        try PlatformCalls.makeFolder(staging.appending("pruned-1"))
        try PlatformCalls.makeFolder(staging.appending("A-SHIPMENT-ON-ITS-WAY"))
        try PlatformCalls.symbolicLink(at: staging.appending("current-1"), to: "nowhere")
        _ = try OpenFile.creating(staging.appending("rollback-1"))
        try StoreLock(of: name, in: inbox).removeLitter()
        #expect(content.staging == ["A-SHIPMENT-ON-ITS-WAY"])
    }
}
