import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// The record of an operator's rollbacks.
extension StoreCustody {
    /// - Throws: `.badRecord`, `.file`.
    borrowing func record() throws(InboxError) -> RollbackRecord {
        try RollbackRecord(at: layout.rollbackRecord(name))
    }

    /// Writes the record durably: aside, synced, renamed, and its folder synced.
    borrowing func write(_ record: RollbackRecord) throws(InboxError) {
        guard (try? self.record()) != record else { return }
        let aside = aside(.rollback)
        do throws(FileError) {
            try Folder.make(layout.staging(name))
            let file = try OpenFile.creating(aside)
            try file.write(MessageCoding.encode(record))
            try file.sync()
            try PlatformCalls.rename(aside, to: layout.rollbackRecord(name))
            try Folder.sync(layout.store(name))
        } catch {
            try? PlatformCalls.removeFile(aside)
            throw .file(error)
        }
    }

    /// Drops the entry that names what is current: the switch away from it never came, or somebody has come back to it.
    /// Before anything else becomes current, lest the entry begin to count.
    borrowing func settle() throws(InboxError) {
        let record = try record()
        guard !record.refused.isEmpty, let current = try? inbox.current(of: name) else { return }
        try write(record.allowing(current.manifest.store.sha256))
    }
}
