import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// The end of a store of an inbox: one rename takes all of its generations, and what is known of them, out of sight; what
/// has gone is removed then, by whoever comes by.
package struct ForgottenStores: Sendable {
    private let folder: InboxFolder

    package init(in folder: InboxFolder) { self.folder = folder }

    private var layout: InboxLayout { folder.layout }

    /// Removes a store with all its generations: all of it, or nothing. A receiver may own the inbox meanwhile: a shipment
    /// of the store that is coming in is waited for.
    ///
    /// - Parameter patience: How long to wait for it, and for others who change the store.
    /// - Returns: The numbers of the generations, the oldest first; those of a removal that was killed are not known.
    /// - Throws: `.held` if a reader holds one, `.storeBusy`, `.noSuchStore`, `.noInbox`, `.file`.
    package func forget(
        _ name: StoreName, patience: Duration = StoreCustody.patience
    ) throws(InboxError) -> [Int] {
        do throws(InboxError) {
            let numbers = try moveAway(name, patience: patience)
            try remove(named: name)
            return numbers
        } catch {
            guard case .noSuchStore = error, try !remains(of: name).isEmpty else { throw error }
            try remove(named: name)
            return []
        }
    }

    /// Removes what a killed process has left.
    func sweep() throws(InboxError) {
        for remains in try remains() { try remove(remains) }
    }

    // MARK: Out of sight

    private func moveAway(_ name: StoreName, patience: Duration) throws(InboxError) -> [Int] {
        let end = ContinuousClock.now + patience
        while true {
            let custody = try StoreCustody(of: name, in: folder, patience: patience)
            if try custody.awaitsShipment() {
                guard ContinuousClock.now < end, !Task.isCancelled else {
                    throw .storeBusy(name, waited: patience)
                }
                _ = consume custody
                PlatformCalls.pause(.milliseconds(20))
                continue
            }
            return try custody.moveAway(to: layout.depot.appending(Remains(name).text))
        }
    }

    // MARK: For good

    /// The name of a store that is out of sight: `.forgotten-Recipes-UUID`. No store's name begins with a dot.
    private struct Remains {
        let store: StoreName
        let text: String

        private static let prefix = ".forgotten-"
        private static let uuidLength = 36

        init(_ store: StoreName) {
            self.store = store
            text = "\(Self.prefix)\(store)-\(UUID().uuidString)"
        }

        init?(_ text: String) {
            guard text.hasPrefix(Self.prefix), UUID(uuidString: String(text.suffix(Self.uuidLength))) != nil,
                let store = StoreName(String(text.dropFirst(Self.prefix.count).dropLast(Self.uuidLength + 1)))
            else { return nil }
            self.store = store
            self.text = text
        }
    }

    private func remains() throws(InboxError) -> [Remains] {
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.names(in: layout.depot).compactMap { Remains($0) }
        }
    }

    private func remains(of name: StoreName) throws(InboxError) -> [Remains] {
        try remains().filter { $0.store == name }
    }

    private func remove(named name: StoreName) throws(InboxError) {
        for remains in try remains(of: name) { try remove(remains) }
    }

    /// The links first: what is out of sight still says that they are to go.
    private func remove(_ remains: Remains) throws(InboxError) {
        try removeLinks(of: remains.store)
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.removeTree(at: layout.depot.appending(remains.text))
            try folder.files.sync(layout.depot)
        }
    }

    /// Removes the public links, unless a new shipment has brought the store back: its folder gives the right to do so.
    private func removeLinks(of name: StoreName) throws(InboxError) {
        let store = layout.store(name)
        try InboxError.wrapping { () throws(FileError) in try folder.files.makeFolder(at: store) }
        let custody = try StoreCustody(of: name, in: folder)
        if custody.currentName == nil { try PublicLinks(folder: folder).remove(of: name) }
        // With something in it, it is a shipment's.
        try? folder.files.removeEmptyFolder(at: store)
        _ = consume custody
    }
}

extension StoreCustody {
    /// Whether a shipment is being staged: what is in the staging then is none of our own litter.
    fileprivate borrowing func awaitsShipment() throws(InboxError) -> Bool {
        removeLitter()
        guard WaitingShipments(in: folder).isComingIn(name) else { return false }
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
        // Until the rename: who waits for one finds then that it has no name any more.
        var (locks, held): ([GenerationLock], [Int]) = ([], [])
        for generation in generations {
            let path = layout.generations(name).appending(generation.text)
            let lock = try InboxError.wrapping { () throws(FileError) -> GenerationLock? in
                guard try folder.files.status(of: path).kind == .folder else { return GenerationLock(nil) }
                guard let lock = try FolderLock.take(.exclusive, on: path, in: folder.files) else { return nil }
                return GenerationLock(lock)
            }
            // One that is suspended leaves its mark first, and lets go then.
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

/// What an array can hold of a lock that is not copyable.
private final class GenerationLock {
    private let lock: FolderLock?

    init(_ lock: consuming FolderLock?) { self.lock = lock }
}
