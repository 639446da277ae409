import EssentialFoundation
package import ShipProtocol
import StoreFiles
package import StoreInbox
package import SystemPackage

/// The shipments of an inbox that broke off and wait to be resumed: stagings with a `WaitingRecord`.
///
/// The receiver of a shipment holds a lock on its staging (flock). A staging without the lock, and with a record, waits.
extension InboxFolder {
    /// The waiting shipments of a store, the one that was written last first.
    package func waitingShipments(of name: StoreName) -> [WaitingShipment] {
        let staging = layout.staging(name)
        let names = (try? files.names(in: staging)) ?? []
        return names.compactMap { WaitingShipment(at: staging.appending($0), in: self) }
            .sorted { $0.record.at > $1.record.at }
    }

    /// Takes over what waits of a store.
    ///
    /// - Parameter producer: The device that resumes it; `nil` if it is unknown. Another device's shipment is never returned.
    /// - Returns: Locked; `nil` if there is none, or another session has it.
    func takeWaitingShipment(of name: StoreName, from producer: ContentDigest?) -> WaitingShipment? {
        waitingShipments(of: name).first { $0.record.producer == producer && $0.takesLock() }
    }

    /// Removes what waits of a store.
    ///
    /// - Parameters:
    ///   - kept: Stays.
    ///   - unreadable: Whether an unlocked staging goes too whose record cannot be read. For who has the lock of the store it is litter: a
    ///     session makes and locks its own under that lock, and lets go of it only there.
    ///   - dryRun: Whether nothing goes.
    ///   - isToGo: Is asked of each.
    /// - Returns: How much went.
    @discardableResult
    package func removeWaitingShipments(
        of name: StoreName, except kept: FilePath? = nil, unreadable: Bool = false, dryRun: Bool = false,
        where isToGo: (WaitingRecord) -> Bool = { _ in true }
    ) -> Int {
        let staging = layout.staging(name)
        var count = 0
        for entry in (try? files.names(in: staging)) ?? [] {
            let path = staging.appending(text: entry)
            guard path != kept else { continue }
            let record = WaitingRecord(ofStagingAt: path, in: files)
            guard record.map({ $0.isOver() || isToGo($0) }) ?? (unreadable && UUID(uuidString: entry) != nil),
                let lock = lockStaging(at: path, with: record)
            else { continue }
            if dryRun || (try? files.removeTree(at: path)) != nil { count += 1 }
            _ = consume lock
        }
        return count
    }

    /// Removes what waits, of every store.
    @discardableResult
    package func removeAllWaitingShipments(where isToGo: (StoreName, WaitingRecord) -> Bool) -> Int {
        ((try? storeNames()) ?? []).reduce(0) { sum, name in
            sum + removeWaitingShipments(of: name) { isToGo(name, $0) }
        }
    }

    /// Removes what waits no more.
    package func removeExpiredShipments() { removeAllWaitingShipments { _, _ in false } }

    /// Removes what waits, where that makes room enough for a shipment.
    ///
    /// - Parameters:
    ///   - name: Of the store that comes: what waits of it goes last.
    ///   - bytes: That are missing.
    /// - Returns: Whether anything went.
    package func makeRoom(of bytes: Int64, for name: StoreName) -> Bool {
        let others = ((try? storeNames()) ?? []).filter { $0 != name }
        func size(of name: StoreName) -> Int64 {
            // What a session goes on with stays.
            waitingShipments(of: name).filter { lockStaging(at: $0.path, with: $0.record) != nil }
                .reduce(0) { $0 + $1.ownBytes }
        }
        let (own, theirs) = (size(of: name), others.reduce(0) { $0 + size(of: $1) })
        guard own + theirs >= bytes else { return false }
        var count = others.reduce(0) { $0 + removeWaitingShipments(of: $1) }
        if theirs < bytes { count += removeWaitingShipments(of: name) }
        return count > 0
    }

    /// Locks a staging that nobody has.
    ///
    /// - Parameter record: Read before.
    /// - Returns: `nil` if its record is another one by now, or it is gone: a session has had it since, and may have sealed it. Such a one
    ///   is about to become a generation, and has no lock in that instant.
    func lockStaging(at path: FilePath, with record: WaitingRecord?) -> FolderLock? {
        guard let lock = try? FolderLock.take(.exclusive, on: path, in: files),
            let identity = try? lock.file.status.identity, identity == (try? files.status(of: path).identity),
            WaitingRecord(ofStagingAt: path, in: files) == record
        else { return nil }
        return lock
    }

    /// Whether a shipment of a store is coming in.
    func isComingIn(_ name: StoreName) -> Bool {
        let staging = layout.staging(name)
        return ((try? files.names(in: staging)) ?? []).contains { entry in
            do throws(FileError) {
                // As long as it is coming in, its receiver has its lock.
                let lock = try FolderLock.take(.exclusive, on: staging.appending(text: entry), in: files)
                let isFree = lock != nil
                _ = consume lock
                return !isFree
            } catch {
                return false
            }
        }
    }
}

extension StoreLock {
    /// Removes what has come of shipments that broke off: what waits, and what a receiver that was killed has left.
    ///
    /// - Returns: How much went, or would go.
    package borrowing func removeBrokenOff(dryRun: Bool = false) -> Int {
        let count = folder.removeWaitingShipments(of: name, unreadable: true, dryRun: dryRun)
        if !dryRun { removeFolderIfUnused() }
        return count
    }
}
