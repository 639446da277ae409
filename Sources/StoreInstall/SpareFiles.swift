import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization
import SystemPackage

/// Files of stores whose generations are gone, one for each store at most: the next version is written over it where it differs.
///
/// A file system that does not clone would have all of a new version written, and to sync that takes longer than all else. What nothing
/// needs any more has most of its bytes. It lies in the staging, goes with its owner, and where room is needed.
final class SpareFiles: Sendable {
    /// Smaller ones are written as fast as they are compared.
    private static let leastSize: Int64 = 1 << 20

    private let folder: InboxFolder
    private let state = Mutex(State())

    private struct State {
        /// The stores of which a shipment has asked for one.
        var wanted: Set<StoreName> = []
        var files: [StoreName: FilePath] = [:]
    }

    init(_ folder: InboxFolder) { self.folder = folder }

    deinit { removeAll() }

    /// Keeps the store's file of a generation that is out of sight, and about to be removed, if shipments ask for one.
    ///
    /// - Parameter aside: The generation, under the store's lock.
    func keep(storeOf aside: FilePath, _ storeLock: borrowing StoreLock) {
        let name = storeLock.name
        let file = aside.appending(InboxLayout.storeFile(name))
        state.withLock { state in
            guard state.wanted.contains(name), state.files[name].map({ (try? folder.files.holds($0)) ?? true }) != true,
                let status = try? folder.files.status(of: file), status.kind == .file, status.links == 1,
                status.size >= Self.leastSize
            else { return }
            let spare = storeLock.aside(.spare)
            if (try? folder.files.rename(file, to: spare)) != nil { state.files[name] = spare }
        }
    }

    /// Moves the file to the place of a store that is to be made.
    ///
    /// - Returns: Whether there was one; from now on one is kept.
    func move(of name: StoreName, to place: FilePath) -> Bool {
        state.withLock { state in
            state.wanted.insert(name)
            guard let file = state.files.removeValue(forKey: name) else { return false }
            return (try? folder.files.rename(file, to: place)) != nil
        }
    }

    /// - Returns: Whether there was one.
    @discardableResult
    func removeAll() -> Bool {
        state.withLock { state in
            defer { state.files = [:] }
            return state.files.values.reduce(false) { (try? folder.files.removeFile($1)) != nil || $0 }
        }
    }
}
