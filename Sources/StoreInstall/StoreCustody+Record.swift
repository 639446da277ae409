package import ShipProtocol
import StoreFiles
package import StoreInbox
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

/// What a sender was told in a file that is held stays until the time that the file says.
extension StoreCustody {
    /// Leases what is current, if it came from a device, in place of what was leased before.
    ///
    /// - Parameter producer: `nil` for senders whose device is not known.
    /// - Returns: What is current; `nil` if it is from another device, or cannot be read: then nothing changes.
    /// - Throws: `.file`.
    package borrowing func leaseCurrent(
        from producer: ContentDigest?, until time: Timestamp
    ) throws(InboxError) -> Generation? {
        guard let current = currentName, let generation = try? folder.generation(current, of: name),
            (try? isFrom(producer, generation)) == true,
            let status = try? folder.files.status(of: generation.storePath), status.kind == .file,
            status.size == generation.manifest.store.size
        else { return nil }
        removeLitter()
        // A file that was written before may promise more.
        let earlier = folder.leaseRecord(of: name).flatMap { $0.keeps(current) ? $0.until : nil }
        let record = LeaseRecord(of: current, until: max(earlier ?? time, time))
        try write(record, aside(.leased), to: layout.leaseRecord(name))
        return generation
    }

    private borrowing func isFrom(_ producer: ContentDigest?, _ generation: Generation) throws(InboxError) -> Bool {
        try Origin.read(ofGenerationAt: generation.path, in: folder.files)?.producer == producer
    }
}
