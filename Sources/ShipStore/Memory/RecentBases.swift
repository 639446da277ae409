import ShipProtocol
import StoreBases
import StoreFiles
import StoreOperations
import StoreSnapshot
import Synchronization
import SystemPackage

/// The copies in RAM of a producer that follows stores: those that receivers have acknowledged since the memory was last written, and those
/// that are being made and sent. They are a memory of their own, in the system's shared memory, which goes with this process.
///
/// Where the disk clones, a copy writes what has changed, and is made there. Elsewhere it would write all of the store. So it is made here,
/// and the memory on the disk gets the newest copy of each receiver a minute later, or when the following ends. If the process is killed, an
/// older copy is remembered: the receiver may still hold that generation, and if not, both sides compare.
package final class RecentBases: Sendable {
    /// On the disk.
    private let lasting: BaseMemory
    /// Here.
    private let recent: BaseMemory
    private let folder: TemporaryFolder
    private let delay: Duration
    private let state = Mutex(State())

    private struct State {
        /// Bytes that copies may take which are being made.
        var claimed: Int64 = 0
        /// Whether something is to be written to the disk.
        var isDue = false
    }

    /// - Parameters:
    ///   - budget: Most bytes of all copies here.
    ///   - delay: How long the disk may have an older copy.
    /// - Returns: `nil` where copies are made on the disk.
    init?(
        before lasting: BaseMemory, _ copying: CopyOptions, within budget: Int64,
        writingAfter delay: Duration = .seconds(60)
    ) {
        guard budget > 0, !copying.isFolderChosen, SharedMemory.isThere, let disk = lasting.workingFolder(for: 0),
            !Self.mayClone(disk), let folder = try? TemporaryFolder(in: SharedMemory.folder)
        else { return nil }
        // The folder itself stays locked.
        (self.lasting, recent) = (lasting, BaseMemory(inRAM: folder.path.appending("bases"), budget: budget))
        self.folder = folder
        self.delay = delay
    }

    private static func mayClone(_ folder: FilePath) -> Bool {
        do throws(FileError) {
            let place = try TemporaryFolder(in: folder)
            let file = try OpenFile.creating(place.path.appending("file"))
            let clone = try OpenFile.creating(place.path.appending("clone"), cloning: file)
            return switch clone {
            case .some: true
            case .none: false
            }
        } catch {
            return true
        }
    }

    // MARK: Room

    /// Claims room for a copy of a store.
    ///
    /// - Returns: How the copy is made here, and what claims the room for as long as it lives; `nil` if there is too little, or the store has
    ///   external files, which a copy on their own disk shares with it.
    func room(for store: SourceStore, _ options: CopyOptions) -> (copying: CopyOptions, claim: Registration)? {
        let support = store.path.removingLastComponent().appending(
            text: ExternalFileName.supportFolder(ofStem: store.path.stemText))
        guard (try? PlatformCalls.isThere(support)) == false, let size = try? PlatformCalls.status(of: store.path).size,
            let free = try? PlatformCalls.freeSpace(around: folder.path)
        else { return nil }
        let log = (try? PlatformCalls.status(of: StoreHome(store.path).log).size) ?? 0
        let claimed = state.withLock { state -> Int64? in
            let left = recent.budget - Self.size(of: folder.path) - state.claimed
            guard size <= left else { return nil }
            // The canonical form most often, and seldom the pages as they are beside it; and what the log brings.
            let claimed = size > left - size ? left : min(2 * size + min(log, left), left)
            state.claimed += claimed
            return claimed
        }
        guard let claimed else { return nil }
        let claim = Registration { [weak self] in self?.state.withLock { $0.claimed -= claimed } }
        guard let place = recent.workingFolder(for: size) else { return nil }
        var copying = options
        copying.temporaryFolder = place
        // A copy that takes more than what is claimed is made on the disk.
        copying.keptFree = max(options.keptFree, free - claimed)
        return (copying, claim)
    }

    /// Bytes of the files in a folder, each of them once.
    private static func size(of folder: FilePath) -> Int64 {
        var files: [FileStatus.Identity: Int64] = [:]
        func look(_ folder: FilePath) {
            for name in (try? Folder.names(in: folder)) ?? [] {
                let path = folder.appending(text: name)
                guard let status = try? PlatformCalls.status(of: path) else { continue }
                if status.kind == .folder { look(path) } else { files[status.identity] = status.size }
            }
        }
        look(folder)
        return files.values.reduce(0, +)
    }

    func holds(_ copy: FilePath) -> Bool { copy.starts(with: folder.path) }

    // MARK: What is acknowledged

    /// The copies of a store, the last used first.
    func copies(of key: BaseKey) -> [RememberedCopy] { recent.copies(of: key) }

    /// Keeps a copy that a receiver has acknowledged until it is written to the disk, if the copy is here.
    ///
    /// - Returns: Whether it is kept. If not, it belongs on the disk at once: so does the first of each receiver, and one that is there
    ///   already because its shipment once broke off.
    func take(
        _ manifest: Manifest, copy: FilePath, as key: BaseKey, by receiver: String, state encoded: [UInt8]?
    ) -> Bool {
        state.withLock { state in
            let isNew = !lasting.unfinished(of: key).contains { $0.record.sha256 == manifest.store.sha256 }
            let isKept =
                holds(copy) && isNew && lasting.copies(of: key).contains { $0.receiver == receiver }
                && recent.remember(manifest, copy: copy, as: key, receiver: receiver, state: encoded) == .remembered
            // An older one of the receiver must not take the place of this one later.
            guard isKept else {
                recent.forget(recent.copies(of: key).filter { $0.receiver == receiver })
                return false
            }
            if !state.isDue {
                state.isDue = true
                Task { [weak self, delay] in
                    try? await Task.sleep(for: delay)
                    self?.writeBack()
                }
            }
            return true
        }
    }

    /// Moves to the disk what receivers have acknowledged.
    ///
    /// Not in a task that may be cancelled: the memory stops then.
    private func writeBack() {
        state.withLock { state in
            state.isDue = false
            let keys = Set(((try? recent.records()) ?? []).map(\.key))
            // Of a store that was destroyed nothing stays.
            for key in keys where (try? PlatformCalls.isThere(key.store)) != false {
                // The last used becomes the last used there, too.
                for copy in recent.copies(of: key).reversed() {
                    _ = lasting.remember(
                        copy.manifest, copy: copy.record.path, as: key, receiver: copy.receiver, state: copy.state)
                }
            }
            _ = try? recent.forget { _ in true }
        }
    }

    /// Moves to the disk what receivers have acknowledged, whatever becomes of this task.
    func settle() async { await Task { writeBack() }.value }
}
