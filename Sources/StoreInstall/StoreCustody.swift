import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

/// The right to change the generations of one store, for the short time of the change: flock(2) on the store's folder,
/// which the inbox's owner, an operator's rollback and a pruning take in turn, whatever their processes.
///
/// Whatever becomes current or goes does so through this value: `StoreCustody+...` has the steps.
package struct StoreCustody: ~Copyable {
    let folder: InboxFolder
    let name: StoreName
    private let lock: FolderLock

    /// How long to wait for somebody else's change.
    package static let patience = Duration.seconds(10)
    /// Between two looks.
    private static let pause = Duration.milliseconds(10)

    /// Waits for its turn, for `patience` at most, or until the task is cancelled.
    ///
    /// - Throws: `.ofOtherUser`, `.openToOthers`, `.storeBusy`, `.noInbox`, `.noSuchStore`, `.file`.
    package init(
        of name: StoreName, in inbox: Inbox, patience: Duration = StoreCustody.patience
    ) throws(InboxError) {
        try self.init(of: name, in: try inbox.open(), patience: patience)
    }

    /// - Throws: `.storeBusy`, `.noInbox`, `.noSuchStore`, `.file`.
    init(
        of name: StoreName, in folder: InboxFolder, patience: Duration = StoreCustody.patience
    ) throws(InboxError) {
        let lock = try Self.lock(name, in: folder, patience)
        // Now, and not only when a receiver started: what is changed is trusted now.
        try folder.checkIsOurs(name)
        self.folder = folder
        self.name = name
        self.lock = lock
    }

    private static func lock(
        _ name: StoreName, in folder: InboxFolder, _ patience: Duration
    ) throws(InboxError) -> FolderLock {
        let end = ContinuousClock.now + patience
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
                throw folder.files.holds(folder.layout.depot) ? .noSuchStore(name) : .noInbox(folder.layout.root)
            }
            guard ContinuousClock.now < end, !Task.isCancelled else { throw .storeBusy(name, waited: patience) }
            PlatformCalls.pause(pause)
        }
    }

    var layout: InboxLayout { folder.layout }
    var currentName: GenerationName? { folder.currentName(of: name) }

    /// A name in the staging for what is made aside and then renamed, or renamed and then removed.
    func aside(_ purpose: Purpose) -> FilePath {
        layout.staging(name).appending("\(purpose.rawValue)-\(UUID().uuidString)")
    }

    enum Purpose: String, CaseIterable { case current, pruned, rollback, origin, left, leased }

    /// Removes what somebody who died in the middle of a change has left: nobody else is in the middle of one.
    package borrowing func removeLitter() {
        for litter in (try? folder.files.names(in: layout.staging(name))) ?? []
        where Purpose.allCases.contains(where: { litter.hasPrefix("\($0.rawValue)-") }) {
            try? folder.files.removeTree(at: layout.staging(name).appending(litter))
        }
    }

    /// `current` is a link: a new one is made aside, and renamed over the old one, so that there is always one. From what
    /// it led to it is noted first that readers may be on their way to it.
    borrowing func switchCurrent(to generation: GenerationName) throws(FileError) {
        if let before = currentName, before != generation { noteLeft(before) }
        let aside = aside(.current)
        try folder.files.symbolicLink(at: aside, to: FilePath("generations").appending(generation.text))
        do throws(FileError) {
            try folder.files.rename(aside, to: layout.current(name))
        } catch {
            try? folder.files.removeFile(aside)
            throw error
        }
        try folder.files.sync(layout.store(name))
    }

    /// Removes the folder of a store of which nothing is here: no shipment of it has become current, none is coming in, and
    /// none waits. Only empty folders go.
    borrowing func removeFolderIfUnused() {
        let places = [layout.staging(name), layout.generations(name)]
        guard let found = try? folder.files.names(in: layout.store(name)),
            found.allSatisfy({ entry in places.contains { $0.lastComponent?.string == entry } }),
            places.allSatisfy({ ((try? folder.files.names(in: $0)) ?? []).isEmpty })
        else { return }
        for place in places { try? folder.files.removeEmptyFolder(at: place) }
        try? folder.files.removeEmptyFolder(at: layout.store(name))
    }
}
