import Foundation
import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage
import TestSupport
import Testing

@testable import StoreInstall

/// Somebody swaps folders in and around the inbox for symbolic links, again and again, while shipments are installed. What
/// the links lead to is a folder that looks like an inbox, and stays as it was; what fails, fails with an error.
@Suite struct SwappedFolderTests {
    /// For each of the four cases; a swap takes about a microsecond.
    private static let time = Duration.milliseconds(Soak.isOn ? 60_000 : 1_500)
    private static let fewestSwaps = Soak.isOn ? 1_000_000 : 10_000

    /// Where the swapping goes on, and as whom.
    enum Place: String, CaseIterable, Sendable {
        /// Another user swaps the inbox itself: the folder above it is theirs.
        case around
        /// The same user swaps every folder in it.
        case inside
    }

    @Test(arguments: Place.allCases)
    func `nothing is read or written elsewhere`(place: Place) async throws {
        let scratch = try ScratchFolder.inMemory()
        let parent = try scratch.folder("parent")
        let root = parent.appending("inbox")
        let canary = try await Self.makeCanary(in: scratch)
        let before = try Self.listing(of: canary)
        let inbox = Inbox(at: root)
        try await Shipment("first", files: [1: "one"]).install(
            with: try Installer(inbox: inbox, keeping: Retention(count: 3)))
        let installer = try Installer(inbox: inbox, keeping: Retention(count: 3))

        let pairs = try Self.plantLinks(place, parent, to: canary)
        let isRoot = PlatformCalls.effectiveUser == 0
        if isRoot {
            // Theirs is the folder above the inbox, and they may get there.
            try PlatformCalls.changeMode(of: scratch.path, to: [.ownerReadWriteExecute, .otherExecute])
            try PlatformCalls.changeMode(of: parent, to: [.ownerReadWriteExecute, .otherReadWriteExecute])
        }
        let swapper = try FolderSwapper(pairs, as: isRoot && place == .around ? 65534 : nil)
        try await swapper.waitUntilItSwaps()
        var (installed, failed, number) = (0, 0, 1)
        let end = ContinuousClock.now + Self.time
        while ContinuousClock.now < end || number < 4 {
            number += 1
            do {
                let generation = try await Shipment("\(number)", files: [1: "one", 2: "\(number)"]).install(
                    with: installer
                ) { generation in
                    // As the store is opened before its receipt.
                    let folder = try installer.folder.folder(of: generation)
                    let file = try OpenFile.readingWithoutFollowing(folder.pathByDescriptor.appending("Recipes.sqlite"))
                    #expect(try file.read(8, at: 0).prefix { $0 != 0 } == Array("\(number)".utf8)[...])
                }
                #expect(generation.manifest.store.sha256 == ContentDigest(hashing: Shipment.pages("\(number)")))
                installed += 1
            } catch is InboxError {
                failed += 1
            }
            _ = try? await Shipment("first", files: [1: "one"]).install(with: installer)
        }
        let swaps = try await swapper.stop()
        print(
            "\(place): \(swaps) swaps, \(installed) installed, \(failed) failed"
        )
        #expect(try Self.listing(of: canary) == before)
        #expect(swaps > Self.fewestSwaps)
        #expect(installed + failed > 2)
        if place == .around { #expect(failed == 0, "what goes on above the inbox is no concern of it") }
    }

    /// What an operator does at the same time opens the inbox anew for each step.
    @Test func `nothing is pruned, or gone back to, elsewhere`() async throws {
        let scratch = try ScratchFolder.inMemory()
        let parent = try scratch.folder("parent")
        let canary = try await Self.makeCanary(in: scratch)
        // In the place of the inbox's there would be much to remove, and to go back to.
        let other = try Installer(inbox: Inbox(at: canary), keeping: Retention(count: 9))
        for number in 0..<4 { try await Shipment("canary \(number)", files: [1: "\(number)"]).install(with: other) }
        let before = try Self.listing(of: canary)
        let inbox = Inbox(at: parent.appending("inbox"))
        let installer = try Installer(inbox: inbox, keeping: Retention(count: 9))
        let count = 9
        for number in 0..<count { try await Shipment("\(number)", files: [1: "\(number)"]).install(with: installer) }
        let name = try #require(StoreName("Recipes"))

        let swapper = try FolderSwapper(try Self.plantLinks(.inside, parent, to: canary))
        try await swapper.waitUntilItSwaps()
        // What goes wrong after the removal is no success, but a removal all the same: what is left is what counts.
        let kept = 2
        var (left, steps) = (count - kept, 0)
        let end = ContinuousClock.now + Self.time
        // Most steps meet a link, and fail.
        let patience = end + .seconds(20)
        while ContinuousClock.now < end || ((steps == 0 || left == count - kept) && ContinuousClock.now < patience) {
            guard let storeLock = try? StoreLock(of: name, in: inbox, timeout: .milliseconds(20)) else { continue }
            if let step = try? storeLock.step(to: count - steps % 2),
                (try? storeLock.take(step, at: Self.noon)) != nil
            {
                steps += 1
            }
            // One at a time.
            let there = (try? storeLock.folder.generationNames(of: name).count) ?? 0
            if there >= kept { left = min(left, there - kept) }
            if left > 0 { _ = try? storeLock.prune(Retention(count: kept + left - 1)) }
            storeLock.removeLitter()
        }
        let swaps = try await swapper.stop()
        print("\(swaps) swaps, \(steps) steps, \(count - kept - left) pruned")
        #expect(try Self.listing(of: canary) == before)
        #expect(swaps > Self.fewestSwaps)
        #expect(steps > 0 && left < count - kept)
    }

    private static let noon = Timestamp(Date(timeIntervalSince1970: 1_800_000_000))

    /// Sizes and times of all there is: whatever is written shows.
    private static func listing(of folder: FilePath) throws -> [String: FileStatus] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.string)
        return try Dictionary(
            uniqueKeysWithValues: (names + ["."]).map { name in
                (name, try PlatformCalls.status(of: folder.appending(FilePath(name).components)))
            })
    }

    /// A folder elsewhere with all the names of an inbox in it.
    private static func makeCanary(in scratch: ScratchFolder) async throws -> FilePath {
        let canary = scratch.path.appending("canary")
        let other = try Installer(inbox: Inbox(at: canary), keeping: Retention(count: 3))
        try await Shipment("canary", files: [1: "one"]).install(with: other)
        for name in ["generations", "staging", "Recipes", ".ship-store", "_EXTERNAL_DATA"] {
            try? PlatformCalls.makeFolder(canary.appending(name))
        }
        return canary
    }

    /// Puts a link to the canary beside each folder that is to be swapped.
    private static func plantLinks(
        _ place: Place, _ parent: FilePath, to canary: FilePath
    ) throws -> [(FilePath, FilePath)] {
        let depot = parent.appending("inbox/.ship-store")
        let places: [(folder: FilePath, inCanary: String)] =
            switch place {
            case .around: [(parent.appending("inbox"), "")]
            case .inside:
                [
                    (depot.appending("Recipes/staging"), ".ship-store/Recipes/staging"),
                    (depot.appending("Recipes/generations"), ".ship-store/Recipes/generations"),
                    (depot.appending("Recipes"), ".ship-store/Recipes"), (depot, ".ship-store"),
                ]
            }
        return try places.map { place in
            let name = place.folder.lastComponent?.string ?? ""
            let link = place.folder.removingLastComponent().appending("\(name).swapped")
            let target = place.inCanary.isEmpty ? canary : canary.appending(place.inCanary)
            try PlatformCalls.symbolicLink(at: link, to: target)
            return (place.folder, link)
        }
    }

    @Test func `an inbox that others may change is refused`() throws {
        let scratch = try ScratchFolder()
        for (folder, mode) in [
            ("inbox", FilePermissions([.ownerReadWriteExecute, .groupWrite])),
            ("inbox", [.ownerReadWriteExecute, .otherWrite]),
            ("inbox/.ship-store", [.ownerReadWriteExecute, .otherReadWriteExecute]),
        ] {
            let root = scratch.path.appending("inbox")
            try Folder.make(root.appending(".ship-store"))
            try PlatformCalls.changeMode(of: scratch.path.appending(folder), to: mode)
            #expect(throws: InboxError.openToOthers(scratch.path.appending(folder))) {
                try Installer(inbox: Inbox(at: root), keeping: Retention(count: 1)).inbox
            }
            try Folder.removeTree(at: root)
        }
    }

    private static let levels = [
        "Recipes", "Recipes/generations", "Recipes/staging", "generation", "generation/.Recipes_SUPPORT",
        "generation/.Recipes_SUPPORT/_EXTERNAL_DATA",
    ]

    /// An inbox of one generation, and a folder of it.
    private func folder(_ level: String, of inbox: InboxContent) throws -> FilePath {
        let generation = inbox.store.appending("generations").appending(try #require(inbox.generations.first))
        return level.hasPrefix("generation")
            ? generation.pushing(FilePath(level.dropFirst("generation".count).drop { $0 == "/" }.description))
            : inbox.store.removingLastComponent().pushing(FilePath(level))
    }

    @Test(arguments: levels)
    func `every folder down to the files is to be ours alone, at each change`(level: String) async throws {
        let inbox = try InboxContent()
        let name = try #require(StoreName("Recipes"))
        let installer = try inbox.installer()
        try await Shipment("1", files: [1: "one"]).install(with: installer)
        let folder = try folder(level, of: inbox)
        try PlatformCalls.changeMode(of: folder, to: FilePermissions(rawValue: 0o777))
        let refusal = InboxError.openToOthers(folder)
        // Of a receiver that runs, of one that starts, and of an operator.
        #expect(throws: refusal) { try installer.undisturbed(name) {} }
        #expect(throws: refusal) { try StoreLock(of: name, in: Inbox(at: inbox.root)).removeLitter() }
        await #expect(throws: refusal) { try await Shipment("2").install(with: installer) }
        #expect(throws: refusal) {
            // It has a lock of its own.
            let folder = try InboxFolder(Inbox(at: inbox.root))
            try DelayedPruning(folder, Retention(count: 1), keeping: SpareFiles(folder)).sweep()
        }
        #expect(inbox.numbers == [1])
        try PlatformCalls.changeMode(of: folder, to: .ownerReadWriteExecute)
        #expect(try await Shipment("2").install(with: installer).number == 2)
    }

    @Test(.enabled(if: PlatformCalls.effectiveUser == 0, "only root can give a folder away"), arguments: levels)
    func `nor may any of them be another user's`(level: String) async throws {
        let inbox = try InboxContent()
        try await Shipment("1", files: [1: "one"]).install(with: try inbox.installer())
        let folder = try folder(level, of: inbox)
        try #require(chown(folder.string, 65534, 65534) == 0)
        #expect(throws: InboxError.ofOtherUser(folder, 65534)) { try inbox.installer().inbox }
    }

    @Test(.enabled(if: PlatformCalls.effectiveUser == 0, "only root can give a folder away"))
    func `an inbox of another user is refused`() throws {
        let scratch = try ScratchFolder()
        let root = scratch.path.appending("inbox")
        try Folder.make(root.appending(".ship-store"))
        try #require(chown(root.appending(".ship-store").string, 65534, 65534) == 0)
        #expect(throws: InboxError.ofOtherUser(root.appending(".ship-store"), 65534)) {
            try Installer(inbox: Inbox(at: root), keeping: Retention(count: 1)).inbox
        }
    }

    @Test func `a folder of the inbox that is a link is not entered`() throws {
        let inbox = try InboxContent()
        let outside = try inbox.scratch.folder("outside")
        try Folder.make(inbox.root)
        try PlatformCalls.symbolicLink(at: inbox.root.appending(".ship-store"), to: outside)
        #expect(throws: InboxError.self) { try inbox.installer().inbox }
        #expect(try Folder.names(in: outside).isEmpty)
    }

    @Test func `a file with a second name is not sealed`() throws {
        let inbox = try InboxContent()
        let staged = try Shipment("store").stage(with: try inbox.installer())
        let other = inbox.scratch.path.appending("other")
        try PlatformCalls.hardLink(staged.storePath, as: other)
        do throws(InboxError) {
            _ = try staged.seal()
            Issue.record("sealed")
        } catch {
            guard case .mismatch = error else { throw error }
        }
        #expect(try PlatformCalls.status(of: other).permissions == .ownerReadWrite)
    }
}
