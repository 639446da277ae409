import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// The disk space that operations need beside the copies that they take. They reserve it before they write anything, together
/// with the other work of this process on the same disk.
extension DiskReservation {
    /// - Parameter folder: Where to write; it may be missing still.
    static func make(
        _ size: Int64, in folder: FilePath, leaving reserve: Int64
    ) throws(SnapshotError) -> DiskReservation {
        var place = folder.isEmpty ? FilePath(".") : folder
        while (try? PlatformCalls.statusFollowingLinks(of: place)) == nil, place.lastComponent != nil {
            place.removeLastComponent()
            if place.isEmpty { place = "." }
        }
        do throws(DiskReservation.Refusal) {
            return try SpaceLedger.ofProcess.reserve(size, leaving: reserve, around: place)
        } catch {
            throw SnapshotError(error, in: folder)
        }
    }

    /// The bytes that a store and its journal grow by while a copy is written into the store, as one transaction.
    ///
    /// - Parameter copy: With pages of the store's page size.
    static func sizeToRewrite(_ store: FilePath, with copy: FilePath, _ survey: StoreSurvey) -> Int64 {
        let (size, copySize) = (size(of: store), size(of: copy))
        let growth = max(0, copySize - size)
        // The log has a header of 24 bytes with each page [sqlite.org/fileformat2.html section 4.1]; a rollback journal has
        // the pages as they were, with 8 bytes more each [section 3].
        let pageSize = Int64(max(512, survey.pageSize))
        return growth
            + (survey.isInWALMode
                ? copySize / pageSize * (pageSize + 24) + 32 : size / pageSize * (pageSize + 8) + pageSize)
    }

    /// The bytes of a copy of a store; its external files get second names there.
    static func sizeOfSafetyCopy(of store: FilePath) -> Int64 {
        size(of: store) + size(of: StoreHome(store).log)
    }

    /// The bytes that it takes to put a copy elsewhere: on the same disk the store is only renamed.
    static func sizeToPlace(_ manifest: Manifest, _ store: FilePath, in folder: FilePath) -> Int64 {
        areOnOneDisk(store, folder) ? manifest.totalSize - manifest.store.size : manifest.totalSize
    }

    /// The bytes that it takes to move a store's external files and the other files beside them: on another disk the external
    /// files are there twice for a while, once as files of a copy.
    ///
    /// - Parameter references: The files to which the store's rows refer.
    static func sizeToMove(
        _ support: SupportFolder, _ references: Set<ExternalFileName>, with otherFiles: OtherSupportFiles,
        to folder: FilePath
    ) throws(FileError) -> Int64 {
        let names = try support.names().intersection(references)
        let size = names.reduce(Int64(0)) { $0 + Self.size(of: support.path(of: $1)) }
        return (areOnOneDisk(support.path, folder) ? size : 2 * size) + otherFiles.size
    }

    private static func size(of path: FilePath) -> Int64 { (try? PlatformCalls.status(of: path))?.size ?? 0 }

    private static func areOnOneDisk(_ first: FilePath, _ second: FilePath) -> Bool {
        func device(_ path: FilePath) -> UInt64? { (try? PlatformCalls.statusFollowingLinks(of: path))?.device }
        return device(first) == device(second)
    }

    /// Bytes of all of them.
    static func size(of files: [(file: ExternalFile, path: FilePath)]) -> Int64 {
        files.reduce(0) { $0 + $1.file.size }
    }
}
