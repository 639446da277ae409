package import ShipProtocol
import StoreFiles
package import StoreInbox

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
