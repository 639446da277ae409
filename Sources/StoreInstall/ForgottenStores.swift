import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// Removes stores from an inbox. One rename moves all generations of a store, and all records about them, out of sight. What is
/// out of sight is removed afterwards, by this process or by the next one that opens the inbox.
extension InboxFolder {
    /// Removes a store with all its generations: all of it, or nothing. A receiver may own the inbox meanwhile: a shipment
    /// of the store that is coming in is waited for.
    ///
    /// - Parameter timeout: How long to wait for it, and for others who change the store.
    /// - Returns: The numbers of the generations, the oldest first; those of a removal that was killed are not known.
    /// - Throws: `.held` if a reader holds one, `.storeBusy`, `.noSuchStore`, `.noInbox`, `.readOnly`, `.file`.
    package func forget(_ name: StoreName, timeout: Duration = StoreLock.timeout) throws(InboxError) -> [Int] {
        do throws(InboxError) {
            let numbers = try moveAway(name, timeout: timeout)
            try removeForgotten(named: name)
            return numbers
        } catch {
            if case .file(let failure) = error, failure.errno == .readOnlyFileSystem { throw .readOnly(layout.root) }
            guard case .noSuchStore = error else { throw error }
            guard try !forgottenPaths(of: name).isEmpty else {
                // It may be gone since a process was killed before it synced that.
                try InboxError.wrapping { () throws(FileError) in try files.sync(layout.depot) }
                throw error
            }
            try removeForgotten(named: name)
            return []
        }
    }

    /// Removes what a killed process has left.
    func sweepForgotten() throws(InboxError) {
        for store in try forgottenStores() {
            do throws(InboxError) {
                try remove(store.path, of: store.name)
            } catch {
                // It stays out of sight.
                guard error.isOfOneStore else { throw error }
            }
        }
    }

    // MARK: Out of sight

    private func moveAway(_ name: StoreName, timeout: Duration) throws(InboxError) -> [Int] {
        let end = ContinuousClock.now + timeout
        while true {
            let storeLock = try StoreLock(of: name, in: self, timeout: timeout)
            if try storeLock.awaitsShipment() {
                guard ContinuousClock.now < end, !Task.isCancelled else {
                    throw .storeBusy(name, waited: timeout)
                }
                _ = consume storeLock
                PlatformCalls.pause(.milliseconds(20))
                continue
            }
            return try storeLock.moveAway(to: layout.depot.appending(name.nameOnceForgotten()))
        }
    }

    // MARK: For good

    /// The stores that are out of sight, and where.
    private func forgottenStores() throws(InboxError) -> [(name: StoreName, path: FilePath)] {
        try InboxError.wrapping { () throws(FileError) in
            try files.names(in: layout.depot).compactMap { entry in
                StoreName(onceForgotten: entry).map { ($0, layout.depot.appending(text: entry)) }
            }
        }
    }

    private func forgottenPaths(of name: StoreName) throws(InboxError) -> [FilePath] {
        try forgottenStores().filter { $0.name == name }.map(\.path)
    }

    private func removeForgotten(named name: StoreName) throws(InboxError) {
        for path in try forgottenPaths(of: name) { try remove(path, of: name) }
    }

    /// The links first: what is out of sight still says that they are to go.
    private func remove(_ path: FilePath, of name: StoreName) throws(InboxError) {
        do throws(InboxError) {
            try removeForgottenLinks(of: name)
        } catch {
            guard error.isOutOfSpace else { throw error }
            // The removal takes a folder, for which it makes room itself: an empty one says as much.
            try InboxError.wrapping { () throws(FileError) in
                for entry in try files.names(in: path) { try files.removeTree(at: path.appending(text: entry)) }
                try files.sync(layout.depot)
            }
            try removeForgottenLinks(of: name)
        }
        try InboxError.wrapping { () throws(FileError) in
            try files.removeTree(at: path)
            try files.sync(layout.depot)
        }
    }

    /// Removes the public links, unless a new shipment has brought the store back: its folder gives the right to do so.
    private func removeForgottenLinks(of name: StoreName) throws(InboxError) {
        let store = layout.store(name)
        let storeLock = try StoreLock(making: name, durably: true, in: self)
        if try storeLock.currentName == nil { try removeLinks(of: name) }
        // With something in it, it is a shipment's.
        try? files.removeEmptyFolder(at: store)
        _ = consume storeLock
    }
}

/// The name of a store that is out of sight: `.forgotten-Recipes-UUID`. No store's name begins with a dot.
extension StoreName {
    private static let forgottenPrefix = ".forgotten-"
    private static let uuidLength = 36

    /// - Returns: Another name each time.
    fileprivate func nameOnceForgotten() -> String { "\(Self.forgottenPrefix)\(self)-\(UUID().uuidString)" }

    fileprivate init?(onceForgotten text: String) {
        guard text.hasPrefix(Self.forgottenPrefix), UUID(uuidString: String(text.suffix(Self.uuidLength))) != nil
        else { return nil }
        self.init(String(text.dropFirst(Self.forgottenPrefix.count).dropLast(Self.uuidLength + 1)))
    }
}

extension StoreLock {
    /// Whether a shipment is being staged: what is in the staging then is none of our own litter.
    fileprivate borrowing func awaitsShipment() throws(InboxError) -> Bool {
        removeLitter()
        guard folder.isComingIn(name) else { return false }
        // Without a receiver they are what a killed one left.
        do throws(InboxError) {
            _ = try InboxLock(folder)
            return false
        } catch {
            guard case .inboxInUse = error else { throw error }
            return true
        }
    }

    /// - Parameter aside: Where the store's folder is to be.
    /// - Returns: The numbers of the generations that have gone.
    fileprivate borrowing func moveAway(to aside: FilePath) throws(InboxError) -> [Int] {
        let generations = try folder.generationNames(of: name)
        // Until the rename: a reader that waits for one finds then that it has no name any more.
        var (locks, held): ([GenerationLock], [Int]) = ([], [])
        for generation in generations {
            let path = layout.generations(name).appending(generation.text)
            let lock = try InboxError.wrapping { () throws(FileError) -> GenerationLock? in
                guard try folder.files.status(of: path).kind == .folder else { return GenerationLock(nil) }
                guard let lock = try FolderLock.takeSoon(.exclusive, on: path, in: folder.files) else { return nil }
                return GenerationLock(lock)
            }
            // A reader that is suspended leaves its mark first, and lets go then.
            let age = folder.suspensionMarks(of: name).age(of: generation)
            let isAwaited = age.map { $0 < Retention.standardSuspensionGrace } ?? false
            if let lock, !isAwaited { locks.append(lock) } else { held.append(generation.number) }
        }
        guard held.isEmpty else { throw .held(name, numbers: held) }
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.rename(layout.store(name), to: aside)
            try folder.files.sync(layout.depot)
        }
        withExtendedLifetime(locks) {}
        return generations.map(\.number)
    }
}

/// Holds a lock in an array, which cannot hold noncopyable values.
private final class GenerationLock {
    private let lock: FolderLock?

    init(_ lock: consuming FolderLock?) { self.lock = lock }
}
