import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage

/// Files of stores whose generations are gone, one for each store at most: the next version is written over it where it differs.
///
/// A file system that does not clone would have all of a new version written, and to sync that takes longer than all else. What nothing
/// needs any more has most of its bytes. It lies in the staging, goes with its owner, and where room is needed.
package final class SpareFiles: Sendable {
    /// Smaller ones are written as fast as they are compared.
    private static let leastSize: Int64 = 1 << 20
    /// How many times its size has to be free on the disk.
    private static let leastFree: Int64 = 4

    private let folder: InboxFolder
    private let state = Mutex(State())

    private struct State {
        /// The stores of which a shipment has asked for one.
        var wanted: Set<StoreName> = []
        var files: [StoreName: FilePath] = [:]
    }

    init(_ folder: InboxFolder) { self.folder = folder }

    deinit { removeAll() }

    /// Keeps the store's file of a generation that is out of sight, and about to be removed, if shipments ask for one, nobody else has it, and
    /// there is room enough for others.
    ///
    /// - Parameter aside: The generation, under the store's lock.
    func keep(storeOf aside: FilePath, _ storeLock: borrowing StoreLock) {
        let (name, layout) = (storeLock.name, folder.layout)
        let file = aside.appending(InboxLayout.storeFile(name))
        let isWanted = state.withLock { state in
            // Another process may have removed what was kept.
            state.wanted.contains(name) && state.files[name].map { (try? folder.files.holds($0)) == false } ?? true
        }
        guard isWanted, let size = try? folder.files.status(of: file).size, size >= Self.leastSize,
            let free = try? PlatformCalls.freeSpace(around: layout.depot), free / Self.leastFree >= size
        else { return }
        let spare = storeLock.aside(.spare)
        do throws(FileError) {
            try folder.files.rename(file, to: spare)
            // After a power cut, too, the generation is gone: what is written over is on the disk at any time.
            try folder.files.sync(layout.generations(name))
            try folder.files.sync(layout.staging(name))
            try folder.files.file(at: spare).changeMode(to: .ownerReadWrite)
            guard try folder.files.file(at: spare, .readWrite).isUnshared else {
                return try folder.files.removeFile(spare)
            }
            state.withLock { $0.files[name] = spare }
        } catch {
            try? folder.files.removeFile(spare)
        }
    }

    /// Moves the file to the place of a store that is to be made.
    ///
    /// - Returns: Whether there was one; from now on one is kept.
    func move(of name: StoreName, to place: FilePath) -> Bool {
        state.withLock { state in
            state.wanted.insert(name)
            guard let file = state.files.removeValue(forKey: name) else { return false }
            if (try? folder.files.rename(file, to: place)) != nil { return true }
            try? folder.files.removeFile(file)
            return false
        }
    }

    func removeAll() {
        state.withLock { state in
            for file in state.files.values { try? folder.files.removeFile(file) }
            state.files = [:]
        }
    }
}
