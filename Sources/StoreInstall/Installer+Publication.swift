package import ShipProtocol
import StoreFiles
package import StoreInbox
import SystemPackage

extension Installer {
    /// Has a store of one of these devices go on as another's, with its numbers as they are: from then on that one's shipments are taken, and no
    /// other's.
    ///
    /// - Throws: `.storeBusy`, `.badOrigin`, `.file`.
    package func handOver(
        _ name: StoreName, from former: [ContentDigest], to device: ContentDigest
    ) throws(InboxError) {
        guard !former.isEmpty, let found = try folder.originRecord(of: name), former.contains(found.producer) else {
            return
        }
        let storeLock = try StoreLock(of: name, in: folder)
        // Another session may have brought something since.
        guard let known = try folder.originRecord(of: name), former.contains(known.producer) else { return }
        storeLock.removeLitter()
        try storeLock.keep(OriginRecord(producer: device, highest: known.highest, generation: known.generation))
    }

    /// Notes for people since when the publisher of a store has halted it, or that it has not. What is not here gets a folder for that.
    package func note(halted time: Timestamp?, of name: StoreName) {
        let (note, known) = (folder.layout.haltRecord(name), folder.haltRecord(of: name))
        let record = time.map { HaltRecord(since: $0) }
        guard known != record, let storeLock = try? StoreLock(making: name, durably: false, in: folder) else { return }
        if let record {
            replace(note, with: record.jsonBytes, .halted, of: name)
        } else {
            // One that can be read as such a note was written by a receiver.
            try? folder.files.removeFile(note)
        }
        storeLock.removeFolderIfUnused()
    }
}
