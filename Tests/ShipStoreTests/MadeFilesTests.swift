import Foundation
import GRDB
import ShipProtocol
import StoreBases
import StoreFiles
import StoreInbox
import StoreOperations
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// What a producer, a consumer and a device make is told to the app, all of it.
@Suite struct `Files that are made` {
    @Test func `are told once each, before anything is in them`() async {
        await #expect(processExitsWith: .success) {
            var exchange = try Exchange(externalFiles: 2)
            exchange.isReal = true
            let root = exchange.folder.path
            let told = ToldFiles()
            FileCreation.prepare(with: told.take)
            exchange.options.memory = BaseMemory(at: root.appending("bases"))
            exchange.options.device = Device(folder: root.appending("device"))
            exchange.options.signsAlways = true
            _ = try await exchange.overSocket()
            let file = try await exchange.intoFile()
            let queue = try TestStore.open(exchange.store)
            try await queue.write { try $0.execute(sql: "CREATE TABLE extra(a); INSERT INTO extra VALUES (1)") }
            try queue.close()
            let delta = try await exchange.overSocket()
            #expect(delta.store?.encoding == .delta)
            _ = try await LocalCopy.take(of: exchange.store, into: try exchange.folder.folder("copies"))
            _ = try await LocalStore(exchange.store).keepCopy(in: KeptCopies(in: root.appending("kept")))
            let consumer = try Consumer(inbox: root.appending("other inbox"))
            _ = try await consumer.receive(from: file)
            let pin = try consumer.coordinator.pin()
            #expect(await consumer.coordinator.suspend() == .complete)
            FileCreation.prepare(with: nil)

            #expect(told.flaws == [])
            let missing = try ToldFiles.standing(in: root).filter { path, status in
                // What the app itself has made, and SQLite for it.
                let isOfApp = path.string.hasPrefix("\(exchange.store)") || path.string.hasPrefix("\(root)/.Recipes")
                return !isOfApp && !told.identities.contains(status.identity)
            }
            #expect(missing.map(\.0) == [])
            // All kinds of places are among them.
            for name in ["bases", "device", "copies", "kept", "inbox", "a.shipment"] {
                #expect(
                    told.identities.contains(try PlatformCalls.status(of: root.appending(name)).identity), "\(name)")
            }
            let generation = try #require(
                try Inbox(at: exchange.inbox).current(of: StoreName(suggestedBy: exchange.store)))
            #expect(told.identities.contains(try PlatformCalls.status(of: generation.storePath).identity))
            #expect(told.identities.count > 40)
            withExtendedLifetime(pin) {}
        }
    }

    @Test func `fail with the app's error, and nothing of them stays`() async {
        await #expect(processExitsWith: .success) {
            var exchange = try Exchange()
            exchange.isReal = true
            let file = try await exchange.intoFile()
            FileCreation.prepare { path, _ in
                if path.lastComponent?.string == "Recipes.sqlite" { throw Errno.notPermitted }
            }
            let consumer = try Consumer(inbox: exchange.inbox)
            let error = await #expect(throws: ShipmentError.self) { try await consumer.receive(from: file) }
            guard case .file(let error) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error.operation == .setAttributes && error.errno == .notPermitted)
            #expect(error.path.starts(with: exchange.inbox) && error.path.lastComponent?.string == "Recipes.sqlite")
            #expect(InboxProbe(exchange.inbox, store: "Recipes").state.staged.isEmpty)
            FileCreation.prepare(with: nil)
            #expect(try await consumer.receive(from: file).count == 1)
        }
    }
}

/// Each file and folder that was told, held open, so that nothing else gets its number.
private final class ToldFiles: Sendable {
    private struct State: ~Copyable {
        var held: [FileDescriptor] = []
        var identities: Set<FileStatus.Identity> = []
        var flaws: [String] = []
    }

    private let state = Mutex(State())

    var identities: Set<FileStatus.Identity> { state.withLock { $0.identities } }
    var flaws: [String] { state.withLock { $0.flaws } }

    @Sendable func take(_ path: FilePath, _ item: FileCreation.Item) throws {
        let descriptor = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow])
        let status = try PlatformCalls.status(of: descriptor, path)
        let isEmpty = item == .folder ? try Folder.names(in: path).isEmpty : status.size == 0
        state.withLock { state in
            state.held.append(descriptor)
            if !state.identities.insert(status.identity).inserted { state.flaws.append("twice: \(path)") }
            if status.kind != (item == .folder ? .folder : .file) { state.flaws.append("kind: \(path)") }
            if !isEmpty { state.flaws.append("not empty: \(path)") }
        }
    }

    /// All files and folders below one.
    static func standing(in root: FilePath) throws -> [(FilePath, FileStatus)] {
        try FileManager.default.subpathsOfDirectory(atPath: root.string).map { name in
            let path = root.pushing(FilePath(name))
            return (path, try PlatformCalls.status(of: path))
        }.filter { $0.1.kind == .file || $0.1.kind == .folder }
    }
}
