import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// The lock under which the generations of one store change: flock(2) on the store's folder. The inbox's owner, an operator's
/// rollback and a pruning take it in turn, in whichever process they run.
///
/// Every change to the generations goes through this value: the steps are in `StoreLock+Records` and `StoreLock+Pruning`.
package struct StoreLock: ~Copyable {
    let folder: InboxFolder
    let name: StoreName
    private let lock: FolderLock

    /// How long to wait for another process's change.
    package static let timeout = Duration.seconds(10)
    /// Between two looks.
    private static let pause = Duration.milliseconds(10)

    /// Waits for its turn, for `timeout` at most, or until the task is cancelled.
    ///
    /// - Throws: `.ofOtherUser`, `.openToOthers`, `.storeBusy`, `.noInbox`, `.noSuchStore`, `.file`.
    package init(of name: StoreName, in inbox: Inbox, timeout: Duration = StoreLock.timeout) throws(InboxError) {
        try self.init(of: name, in: try inbox.open(), timeout: timeout)
    }

    /// - Throws: `.storeBusy`, `.noInbox`, `.noSuchStore`, `.file`.
    init(of name: StoreName, in folder: InboxFolder, timeout: Duration = StoreLock.timeout) throws(InboxError) {
        let lock = try Self.lock(name, in: folder, timeout)
        // Now, and not only when a receiver started: what is changed is trusted now.
        try folder.checkIsOurs(name)
        self.folder = folder
        self.name = name
        self.lock = lock
    }

    /// Makes the store's folder first if it is missing: the store may have no generations yet.
    ///
    /// - Throws: `.storeBusy`, `.noInbox`, `.file`; `.noSuchStore` once the task is cancelled.
    init(making name: StoreName, durably: Bool, in folder: InboxFolder) throws(InboxError) {
        let store = folder.layout.store(name)
        while true {
            let isNew = try InboxError.wrapping { () throws(FileError) in
                let isNew = try !folder.files.holds(store)
                try folder.files.makeFolder(at: store, durably: durably)
                return isNew
            }
            do throws(InboxError) {
                try self.init(of: name, in: folder)
                return
            } catch {
                // Whoever ends a shipment that leaves nothing behind removes the unused folder.
                guard case .noSuchStore = error, !Task.isCancelled else {
                    if isNew { try? folder.files.removeEmptyFolder(at: store) }
                    throw error
                }
            }
        }
    }

    private static func lock(
        _ name: StoreName, in folder: InboxFolder, _ timeout: Duration
    ) throws(InboxError) -> FolderLock {
        let end = ContinuousClock.now + timeout
        while true {
            do throws(FileError) {
                let lock = try FolderLock.take(.exclusive, on: folder.layout.store(name), in: folder.files)
                // The folder may have gone while its lock was waited for, and another one have its name.
                if let lock,
                    (try? lock.file.status.identity)
                        == (try? folder.files.status(of: folder.layout.store(name)).identity)
                {
                    return lock
                }
            } catch {
                guard error.errno == .noSuchFileOrDirectory else { throw .file(error) }
                throw (try? folder.files.holds(folder.layout.depot)) ?? true
                    ? folder.noSuchStore(name) : folder.noInbox
            }
            guard ContinuousClock.now < end, !Task.isCancelled else { throw .storeBusy(name, waited: timeout) }
            PlatformCalls.pause(pause)
        }
    }

    var layout: InboxLayout { folder.layout }
    var currentName: GenerationName? {
        get throws(InboxError) { try folder.currentName(of: name) }
    }

    /// Makes durable what is there: a process may have been killed between a change and its sync.
    package borrowing func sync() throws(InboxError) {
        try InboxError.wrapping { () throws(FileError) in
            for path in [layout.staging(name), layout.generations(name), layout.store(name)]
            where try folder.files.holds(path) {
                try folder.files.sync(path)
            }
        }
    }

    /// A name in the staging for what is made aside and then renamed, or renamed and then removed.
    func aside(_ purpose: Purpose) -> FilePath { Self.aside(purpose, of: name, in: layout) }

    static func aside(_ purpose: Purpose, of name: StoreName, in layout: InboxLayout) -> FilePath {
        layout.staging(name).appending("\(purpose.rawValue)-\(UUID().uuidString)")
    }

    enum Purpose: String, CaseIterable { case current, pruned, spare, rollback, origin, left, leased, asOf, halted }

    /// Removes what a process that died in the middle of a change has left. Under the lock no other change is under way.
    package borrowing func removeLitter() {
        for litter in (try? folder.files.names(in: layout.staging(name))) ?? []
        where Purpose.allCases.contains(where: { litter.hasPrefix("\($0.rawValue)-") }) {
            try? folder.files.removeTree(at: layout.staging(name).appending(text: litter))
        }
    }

    /// `current` is a link: a new one is made aside, and renamed over the old one, so that there is always one. A note is written
    /// first for the generation that is left: readers may be on their way to it.
    borrowing func switchCurrent(to generation: GenerationName) throws(FileError) {
        if let before = try? currentName, before != generation { noteLeft(before) }
        let aside = aside(.current)
        try folder.files.symbolicLink(at: aside, to: FilePath("generations").appending(generation.text))
        do throws(FileError) {
            try folder.files.put(aside, at: layout.current(name))
        } catch {
            try? folder.files.removeFile(aside)
            throw error
        }
        try folder.files.sync(layout.store(name))
    }

    /// Removes the folder of a store that has nothing in it: no shipment of it has become current, none is coming in, none waits, and its
    /// publisher has not halted it. Only empty folders go, and notes about what is current.
    borrowing func removeFolderIfUnused() {
        let places = [layout.staging(name), layout.generations(name)]
        let notes = [layout.ageRecord(name), layout.haltRecord(name), layout.leftRecord(name), layout.bell(name)]
        guard let found = try? folder.files.names(in: layout.store(name)),
            found.allSatisfy({ entry in (places + notes).contains { $0.lastComponent?.text == entry } }),
            places.allSatisfy({ ((try? folder.files.names(in: $0)) ?? []).isEmpty }), !folder.isHeard(name),
            folder.haltRecord(of: name) == nil
        else { return }
        for note in notes { try? folder.files.removeFile(note) }
        for place in places { try? folder.files.removeEmptyFolder(at: place) }
        try? folder.files.removeEmptyFolder(at: layout.store(name))
    }
}
