import EssentialFoundation
import ShipProtocol
import Synchronization
package import SystemPackage

/// A private folder (0700) that goes away with its owner. If a process is killed, the next one sweeps its folder away.
///
/// The owner locks the folder (flock) for as long as it lives: an unlocked one is litter.
package struct TemporaryFolder: ~Copyable, Sendable {
    package let path: FilePath
    private let lock: OpenFile

    /// How its name begins, by the kind of the folder that it is in.
    package enum Place: String, Sendable {
        /// Among other temporary folders.
        case temporary = "ship-store-"
        /// Beside the result files, which it hides until they are complete.
        case besideResults = ".ship-store-"
    }

    /// Where temporary folders go unless told otherwise: `TMPDIR`, or else `/tmp`.
    package static var defaultParent: FilePath { variablePlace ?? "/tmp" }
    /// What `TMPDIR` says.
    package static var variablePlace: FilePath? { PlatformCalls.path(inVariable: "TMPDIR") }

    /// Makes a folder inside `parent`, and sweeps away what killed processes of the same user left there.
    package init(in parent: FilePath = defaultParent, _ place: Place = .temporary) throws(FileError) {
        Self.sweep(parent, place)
        while true {
            if let folder = try Self.makeAndLock(in: parent, place) {
                self = folder
                return
            }
        }
    }

    /// Makes one beside results, and first the folder for them if it is not there. That goes too if nothing has come into it.
    ///
    /// - Parameter attributes: Of each folder for results that it makes; `nil` for this user alone.
    package init(making results: FilePath, with attributes: FileAttributes? = nil) throws(FileError) {
        var made: [FilePath] = []
        var attempts = 10
        while true {
            do throws(FileError) {
                try Folder.make(results, with: attributes, noting: &made)
                try self.init(in: results, .besideResults)
                break
            } catch {
                Self.removeEmpty(made)
                // Another process had made it too, and has removed it again.
                attempts -= 1
                guard error.errno == .noSuchFileOrDirectory, attempts > 0 else { throw error }
            }
        }
        Self.living.withLock { [path, made] in $0[path]?.madeFor = made }
    }

    /// One that this process owns: which folder it is, and those that were made for it, the innermost first.
    private struct Owned {
        let identity: FileStatus.Identity
        var madeFor: [FilePath] = []
    }

    private static let living = Mutex<[FilePath: Owned]>([:])

    private init(path: FilePath, lock: consuming OpenFile) throws(FileError) {
        let identity = try lock.status.identity
        self.path = path
        self.lock = lock
        Self.living.withLock { $0[path] = Owned(identity: identity) }
    }

    /// Removes all that this process owns, just before it ends: what still holds one, on some thread, does not get to its own end then.
    package static func removeAll() {
        for path in living.withLock({ Array($0.keys) }) { remove(path) }
    }

    /// Removes the folder, and nothing that stands in its place by now. It counts as owned until it is gone.
    private static func remove(_ path: FilePath) {
        guard let owned = living.withLock({ $0[path] }) else { return }
        if (try? PlatformCalls.status(of: path).identity) == owned.identity { try? Folder.removeTree(at: path) }
        removeEmpty(owned.madeFor)
        living.withLock { $0[path] = nil }
    }

    private static func removeEmpty(_ folders: [FilePath]) {
        for folder in folders { try? PlatformCalls.removeEmptyFolder(folder) }
    }

    /// - Returns: `nil` if another process, sweeping, took the lock first: it removes the folder.
    private static func makeAndLock(in parent: FilePath, _ place: Place) throws(FileError) -> TemporaryFolder? {
        let path = parent.appending(place.rawValue + UUID().uuidString)
        do throws(FileError) {
            try PlatformCalls.makeFolder(path)
        } catch {
            // Nobody knows the new name.
            throw FileError(.makeFolderIn, parent, error.errno)
        }
        do throws(FileError) {
            let lock = try OpenFile.reading(path)
            // On a file system without locks no process sweeps either.
            let isLocked = (try? PlatformCalls.tryLock(lock.descriptor, path)) ?? true
            guard isLocked, try PlatformCalls.isThere(path) else { return nil }
            return try TemporaryFolder(path: path, lock: lock)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            try? Folder.removeTree(at: path)
            throw error
        }
    }

    deinit { Self.remove(path) }

    /// Removes what is in it, and the folder, now and durably: what was moved into it is gone, and a power cut does not bring it back.
    package func remove() throws(FileError) {
        try Folder.removeTree(at: path)
        try Folder.sync(path.removingLastComponent())
    }

    /// Removes what killed processes of the same user left in a folder.
    package static func sweep(_ parent: FilePath, _ place: Place) {
        guard let names = try? Folder.names(in: parent) else { return }
        for name in names where isOurs(name, place) {
            let path = parent.appending(text: name)
            guard let status = try? PlatformCalls.status(of: path), status.isOwnFolder,
                let lock = try? OpenFile.readingWithoutFollowing(path),
                (try? PlatformCalls.tryLock(lock.descriptor, path)) == true, StagedCopy.takeBack(to: path)
            else { continue }
            try? Folder.removeTree(at: path)
        }
    }

    static func isTemporary(_ name: String) -> Bool { isOurs(name, .temporary) || isOurs(name, .besideResults) }

    /// Whether a name has exactly this form: people name folders after this program too.
    private static func isOurs(_ name: String, _ place: Place) -> Bool {
        name.hasPrefix(place.rawValue) && UUID(uuidString: String(name.dropFirst(place.rawValue.count))) != nil
    }
}
