package import ShipProtocol
package import StoreFiles
package import StoreInbox
import SystemPackage

/// Objects of publications: each is a file in the inbox until its shipment is installed, so that one that broke off is resumed.
extension Installer {
    /// How long what broke off stays.
    private static let patience = Duration.seconds(24 * 3600)

    /// Opens the file of an object, which may have a part of it.
    ///
    /// - Throws: `.file`.
    package func openObject(_ digest: ContentDigest) throws(InboxError) -> OpenFile {
        try InboxError.wrapping { () throws(FileError) in
            try folder.files.makeFolder(at: folder.layout.objects)
            let path = folder.layout.objects.appending(digest.hex)
            let file = try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
                try folder.files.file(at: path, .readWrite)
            }
            if let file { return file }
            return try folder.files.makeFile(at: path)
        }
    }

    package func removeObject(_ digest: ContentDigest) {
        try? folder.files.removeFile(folder.layout.objects.appending(digest.hex))
    }

    /// Reserves the room for the rest of an object. Where there is none, the others that broke off go first.
    ///
    /// - Throws: `.noSpace`, `.file`.
    package func reserveRoom(for size: Int64, of object: ContentDigest) throws(InboxError) -> DiskReservation {
        do throws(InboxError) {
            return try reserveRoom(for: size)
        } catch .noSpace {
            removeObjects { name, _ in name != object }
            return try reserveRoom(for: size)
        }
    }

    /// Reserves the room for what is still to come. Where there is none, for this or for what it turns out to need, the spare files go.
    ///
    /// - Throws: `.noSpace`, `.file`.
    package func reserveRoom(for size: Int64) throws(InboxError) -> DiskReservation {
        do throws(DiskReservation.Refusal) {
            return try space.reserve(max(0, size), leaving: reserve, in: folder.files) { [spares] in spares.removeAll()
            }
        } catch {
            throw InboxError(error)
        }
    }

    /// Removes what broke off a day ago.
    package func removeExpiredObjects() {
        removeObjects { _, status in PlatformCalls.timeOfDay - status.modified > Self.patience }
    }

    private func removeObjects(where isToGo: (ContentDigest, FileStatus) -> Bool) {
        let objects = folder.layout.objects
        for name in (try? folder.files.names(in: objects)) ?? [] {
            let path = objects.appending(name)
            guard let digest = ContentDigest(hex: name), let status = try? folder.files.status(of: path),
                status.kind == .file, isToGo(digest, status)
            else { continue }
            try? folder.files.removeFile(path)
        }
    }
}
