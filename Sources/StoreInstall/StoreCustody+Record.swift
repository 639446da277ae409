import ShipProtocol
import StoreFiles
import StoreInbox
import SystemPackage

/// The records that stand beside a store's generations: of an operator's rollbacks, and of where its shipments are from.
extension StoreCustody {
    /// - Throws: `.badRecord`, `.file`.
    borrowing func record() throws(InboxError) -> RollbackRecord {
        try folder.rollbackRecord(of: name)
    }

    /// Writes the record durably: aside, synced, renamed, and its folder synced.
    borrowing func write(_ record: RollbackRecord) throws(InboxError) {
        guard (try? self.record()) != record else { return }
        try write(record, aside(.rollback), to: layout.rollbackRecord(name))
    }

    /// - Parameter aside: Where it is made.
    borrowing func write(
        _ record: some Encodable, _ aside: FilePath, to path: FilePath
    ) throws(InboxError) {
        do throws(FileError) {
            try folder.files.makeFolder(at: layout.staging(name))
            let file = try folder.files.makeFile(at: aside)
            try file.write(MessageCoding.encode(record))
            try file.sync()
            try folder.files.rename(aside, to: path)
            try folder.files.sync(layout.store(name))
        } catch {
            try? folder.files.removeFile(aside)
            throw .file(error)
        }
    }

    /// Notes that a generation was current until now. Where that cannot be noted it may go at once.
    borrowing func noteLeft(_ generation: GenerationName) {
        let aside = aside(.left)
        let record = folder.leftRecord(of: name).leaving(generation, grace: Retention.standardGrace)
        do {
            let file = try folder.files.makeFile(at: aside)
            try file.write(MessageCoding.encode(record))
            try folder.files.rename(aside, to: layout.leftRecord(name))
        } catch {
            try? folder.files.removeFile(aside)
        }
    }

    /// Drops the entry that names what is current: the switch away from it never came, or somebody has come back to it.
    /// Before anything else becomes current, lest the entry begin to count.
    borrowing func settle() throws(InboxError) {
        let record = try record()
        guard !record.refused.isEmpty, let current = try? folder.current(of: name) else { return }
        try write(record.allowing(current.manifest.store.sha256))
    }

    /// Keeps what is known of where the store's shipments are from, before `current` leads elsewhere, or once it does.
    borrowing func keepOrigin() throws(InboxError) {
        if let record = try folder.originRecord(of: name) { try keep(record) }
    }

    /// Keeps it durably.
    borrowing func keep(_ record: OriginRecord) throws(InboxError) {
        guard (try? OriginRecord.read(at: layout.originRecord(name), in: folder.files)) != record else { return }
        try write(record, aside(.origin), to: layout.originRecord(name))
    }
}
