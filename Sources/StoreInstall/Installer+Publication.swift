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

    /// Notes that the publisher of a store has halted it, for people.
    ///
    /// - Parameter time: Since when; `nil` if it is not.
    package func note(halted time: Timestamp?, of name: StoreName) {
        let (layout, record) = (folder.layout, time.map { HaltRecord(since: $0) })
        guard folder.haltRecord(of: name) != record, (try? folder.currentName(of: name)) != nil else { return }
        let aside = StoreLock.aside(.halted, of: name, in: layout)
        do throws(FileError) {
            guard let record else { return try folder.files.removeFile(layout.haltRecord(name)) }
            try folder.files.makeFolder(at: layout.staging(name))
            try folder.files.makeFile(at: aside).write(record.jsonBytes)
            try folder.files.rename(aside, to: layout.haltRecord(name))
        } catch {
            try? folder.files.removeFile(aside)
        }
    }
}
