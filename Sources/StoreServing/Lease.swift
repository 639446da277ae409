import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// A generation that stays while this value lives, in this process or another: a shared lock on its folder, which whoever
/// prunes respects, and which the kernel takes back when the holder dies.
struct Lease: ~Copyable, Sendable {
    let folder: FilePath
    let generation: GenerationName
    let identity: FileStatus.Identity
    private let lock: FolderLock

    /// How often, and how long, a generation that somebody is removing is tried again: ten seconds in all.
    private static let attempts = 2000
    private static let pause = Duration.milliseconds(5)

    /// Leases the current generation of a store.
    ///
    /// - Throws: `.noSuchStore`, `.generationLocked`, `.file`.
    init(currentOf name: StoreName, in inbox: Inbox) throws(CoordinatorError) {
        for _ in 0..<Self.attempts {
            guard let generation = inbox.currentName(of: name) else { throw .noSuchStore(name.text) }
            let folder = inbox.layout.generations(name).appending(generation.text)
            do throws(FileError) {
                if let lease = try Self.take(generation, at: folder) {
                    self = lease
                    return
                }
            } catch {
                guard error.errno == .noSuchFileOrDirectory else { throw .file(error) }
                // Pruned after a look at the link: there is a newer one. A link that leads nowhere is no store.
                guard inbox.currentName(of: name) != generation else { throw .noSuchStore(name.text) }
                continue
            }
            PlatformCalls.pause(Self.pause)
        }
        throw .generationLocked(name)
    }

    /// Leases a generation that was let go of.
    ///
    /// - Throws: `.generationGone`, `.generationLocked`, `.file`.
    init(again generation: GenerationName, of name: StoreName, in inbox: Inbox) throws(CoordinatorError) {
        let folder = inbox.layout.generations(name).appending(generation.text)
        for _ in 0..<Self.attempts {
            do throws(FileError) {
                if let lease = try Self.take(generation, at: folder) {
                    self = lease
                    return
                }
            } catch {
                switch error.errno {
                case .noSuchFileOrDirectory, .notDirectory:
                    throw .generationGone(name, number: generation.number)
                default: throw .file(error)
                }
            }
            PlatformCalls.pause(Self.pause)
        }
        throw .generationLocked(name)
    }

    private init(
        folder: FilePath, _ generation: GenerationName, _ identity: FileStatus.Identity, _ lock: consuming FolderLock
    ) {
        self.folder = folder
        self.generation = generation
        self.identity = identity
        self.lock = lock
    }

    /// - Returns: `nil` if somebody is removing it.
    private static func take(_ generation: GenerationName, at folder: FilePath) throws(FileError) -> Lease? {
        guard let lock = try FolderLock.take(.shared, on: folder) else { return nil }
        // Between the opening and the lock somebody may have moved it away, to remove it.
        let identity = try lock.file.status.identity
        guard try PlatformCalls.status(of: folder).identity == identity else { return nil }
        return Lease(folder: folder, generation, identity, lock)
    }
}
