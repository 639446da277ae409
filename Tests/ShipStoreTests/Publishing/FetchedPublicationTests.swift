import EssentialFoundation
import ShipLinks
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreInstall
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Publications whose files an app fetches itself.
@Suite struct FetchedPublicationTests {
    /// A follower that fetches files by itself, and what it was asked for.
    private final class App: Sendable {
        let consumer: Consumer
        private let folder: FilePath
        let asked = Mutex<[PublishedFile]>([])
        /// Files that are still to come.
        let missing = Mutex<Set<String>>([])

        init(_ round: PublicationRound, _ index: Int, from folder: FilePath) throws {
            var options = Consumer.Options()
            options.trust = .trustedPeers(of: round.device(index))
            consumer = try Consumer(inbox: round.scratch.path.appending("inbox\(index)"), options: options)
            self.folder = folder
        }

        func look() async throws(ShipmentError) -> [Receipt] {
            try await consumer.receive(published: .folder("app")) { [self] file in
                asked.withLock { $0.append(file) }
                if missing.withLock({ $0.remove(file.path) }) != nil { throw CancellationError() }
                let path = folder.appending(FilePath(file.path).components)
                return (try? PlatformCalls.status(of: path)) == nil ? nil : path
            }
        }
    }

    private static func publication(
        _ seed: UInt64, isEncrypted: Bool = false
    ) throws -> (PublicationRound, folder: FilePath, keeper: ScratchFolder) {
        let scratch = try ScratchFolder.inMemory()
        let folder = scratch.path.appending("kitchen")
        let round = try PublicationRound(seed: seed, in: PublicationFolder(at: folder), isEncrypted: isEncrypted)
        return (round, folder, scratch)
    }

    @Test(arguments: [false, true])
    func `an app follows with files that it fetches`(isEncrypted: Bool) async throws {
        let (round, folder, keeper) = try Self.publication(80, isEncrypted: isEncrypted)
        defer { withExtendedLifetime(keeper) {} }
        let app = try App(round, 1, from: folder)
        await #expect(throws: ShipmentError.publication(.nothingThere(.folder("app")))) { _ = try await app.look() }
        for number in 1...12 {
            try round.change(rows: number % 5 == 0 ? 300 : 1)
            try await round.publish()
            #expect(try await app.look().map(\.outcome) == [.installed])
            #expect(try round.tick(of: 1) == number)
        }
        // A small change stands in the head.
        app.asked.withLock { $0 = [] }
        try round.change()
        try await round.publish()
        _ = try await app.look()
        let asked = app.asked.withLock(\.self)
        #expect(asked.first == PublishedFile(path: "head", sizeLimit: Int64(Limits.headSize) + 1, isFresh: false))
        #expect(asked.dropFirst().allSatisfy { $0.path.hasPrefix("objects/") && !$0.isFresh })
    }

    @Test func `what is as published has not failed, whatever went wrong before`() async throws {
        let (round, folder, keeper) = try Self.publication(82)
        defer { withExtendedLifetime(keeper) {} }
        try round.change()
        try await round.publish()
        let app = try App(round, 1, from: folder)
        _ = try await app.look()
        let installer = app.consumer.installer
        installer.noteFailure(of: try #require(StoreName("Recipes")), "local", "a disk", hint: nil)
        #expect(installer.folder.failureRecord != .empty)
        #expect(try await app.look().map(\.outcome) == [.unchanged])
        #expect(installer.folder.failureRecord == .empty)
    }

    @Test func `what is still to come stops a look, and the next one goes on`() async throws {
        let (round, folder, keeper) = try Self.publication(81)
        defer { withExtendedLifetime(keeper) {} }
        try round.change(rows: 3000)
        try await round.publish()
        let app = try App(round, 0, from: folder)
        let names = try Folder.names(in: folder.appending("objects"))
        app.missing.withLock { $0 = Set(["head"] + names.map { "objects/\($0)" }) }
        var stops = 0
        while true {
            do throws(ShipmentError) {
                _ = try await app.look()
                break
            } catch {
                #expect(error == .stopped)
                stops += 1
            }
            // Nothing is noted of it.
            #expect(try app.consumer.inbox.status().allSatisfy { $0.failure == nil })
        }
        #expect(stops > 1 && stops <= names.count + 1)
        #expect(try round.tick(of: 0) == 1)
    }

    @Test func `what the app throws is told in its own words, and an old head is asked for past caches`() async throws {
        let (round, folder, keeper) = try Self.publication(82)
        defer { withExtendedLifetime(keeper) {} }
        struct NoNetwork: Error {}
        let app = try App(round, 0, from: folder)
        await #expect(throws: ShipmentError.link(.carrierFailed("NoNetwork()"))) {
            _ = try await app.consumer.receive(published: .folder("app")) { _ in throw NoNetwork() }
        }
        try await round.publish()
        let old = try OpenFile.reading(folder.appending("head")).read(Limits.headSize, at: 0)
        try round.change()
        try await round.publish()
        _ = try await app.look()
        let shown = folder.appending("old")
        try OpenFile.creating(shown).write(old)
        try round.change()
        try await round.publish()
        // A cache shows the first head.
        _ = try await app.consumer.receive(published: .folder("app")) { file in
            let path = folder.appending(FilePath(file.path).components)
            return file.path == "head" && !file.isFresh ? shown : path
        }
        #expect(try round.tick(of: 0) == 2)
    }
}
