import ShipProtocol
import StoreFiles
import StoreOperations
import StoreSnapshot
import SystemPackage

/// The room that operations write into beside the copies that they take: promised before anything is written, and counted
/// together with what else this process writes to that disk.
enum OperationRoom {
    /// - Parameters:
    ///   - folder: Where; it need not be there yet.
    ///   - reserve: Bytes that stay free.
    /// - Throws: `SnapshotError.noSpace`, `.file`.
    static func promise(
        _ size: Int64, in folder: FilePath, leaving reserve: Int64
    ) throws(SnapshotError) -> SpaceLedger.Promise {
        var place = folder.isEmpty ? FilePath(".") : folder
        while (try? PlatformCalls.statusFollowingLinks(of: place)) == nil, place.lastComponent != nil {
            place.removeLastComponent()
            if place.isEmpty { place = "." }
        }
        do throws(SpaceLedger.Refusal) {
            return try SpaceLedger.ofProcess.promise(size, leaving: reserve, around: place)
        } catch {
            throw SnapshotError(error, in: folder)
        }
    }

    /// Bytes that a store takes for a moment while a copy is written into it, as one transaction.
    ///
    /// - Parameters:
    ///   - store: As it is.
    ///   - copy: What is written, with pages of the size that those of the store have.
    static func ofRewriting(_ store: FilePath, with copy: FilePath, _ survey: StoreSurvey) -> Int64 {
        func size(_ path: FilePath) -> Int64 { (try? PlatformCalls.status(of: path))?.size ?? 0 }
        let (size, copySize) = (size(store), size(copy))
        let growth = max(0, copySize - size)
        // The log has a header of 24 bytes with each page [sqlite.org/fileformat2.html section 4.1]; a rollback journal has
        // the pages as they were, with 8 bytes more each [section 3].
        let pageSize = Int64(max(512, survey.pageSize))
        return growth
            + (survey.isInWALMode
                ? copySize / pageSize * (pageSize + 24) + 32 : size / pageSize * (pageSize + 8) + pageSize)
    }

    /// Bytes of a copy of a store as it is; its external files are second names there.
    static func ofSafetyCopy(_ store: FilePath) -> Int64 {
        let log = FilePath(store.string + "-wal")
        return [store, log].reduce(0) { $0 + ((try? PlatformCalls.status(of: $1))?.size ?? 0) }
    }

    /// Bytes that it takes to put a copy elsewhere: on the same disk the store itself only gets another name.
    static func ofPlacing(_ manifest: Manifest, _ store: FilePath, in folder: FilePath) -> Int64 {
        func device(_ path: FilePath) -> UInt64? { (try? PlatformCalls.statusFollowingLinks(of: path))?.device }
        return device(store) == device(folder) ? manifest.totalSize - manifest.store.size : manifest.totalSize
    }

    /// Bytes that it takes to move a store's external files, and what else lies beside them: on another disk they are there
    /// twice for a while, once as files of a copy.
    ///
    /// - Parameter references: Of the store's rows.
    static func ofMoving(
        _ support: SupportFolder, _ references: Set<ExternalFileName>, with companions: Companions, to folder: FilePath
    ) -> Int64 {
        func device(_ path: FilePath) -> UInt64? { (try? PlatformCalls.statusFollowingLinks(of: path))?.device }
        let names = support.names().intersection(references)
        let size = names.reduce(Int64(0)) { $0 + ((try? PlatformCalls.status(of: support.path(of: $1)))?.size ?? 0) }
        return (device(support.path) == device(folder) ? size : 2 * size) + companions.size
    }

    static func of(_ files: [FileAtHand]) -> Int64 { files.reduce(0) { $0 + $1.file.size } }
}
