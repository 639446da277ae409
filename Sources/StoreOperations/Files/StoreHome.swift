import ShipProtocol
import StoreFiles
package import SystemPackage

/// The files of a store: itself, what SQLite keeps beside it, and the folder of its external files.
package struct StoreHome: Hashable, Sendable {
    package let path: FilePath

    package init(_ path: FilePath) { self.path = path }

    /// The store behind a path that a user gave: SQLite's sidecars and Core Data's external files are beside the file
    /// itself, not beside a symbolic link to it.
    ///
    /// - Throws: `.noSuchStore`, `.notADatabase` for what is no regular file, `.noPermission`.
    package init(resolving path: FilePath) throws(OperationError) {
        let status: FileStatus
        do throws(FileError) {
            self.path = try PlatformCalls.realPath(of: path)
            status = try PlatformCalls.status(of: self.path)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: throw .noSuchStore(path)
            case .permissionDenied: throw .noPermission(path)
            default: throw .file(error)
            }
        }
        guard status.kind == .file else { throw .notADatabase(path) }
    }

    package var folder: FilePath {
        let folder = path.removingLastComponent()
        return folder.isEmpty ? "." : folder
    }

    /// Permission bits of the store's file.
    package var mode: FilePermissions {
        get throws(FileError) { try PlatformCalls.status(of: path).permissions }
    }

    package var journal: FilePath { FilePath(path.string + "-journal") }
    package var log: FilePath { FilePath(path.string + "-wal") }
    package var logIndex: FilePath { FilePath(path.string + "-shm") }
    package var sidecars: [FilePath] { [journal, log, logIndex] }
    static let sidecarEndings = ["-journal", "-wal", "-shm"]

    /// `.<name without extension>_SUPPORT`.
    package var supportFolder: SupportFolder {
        SupportFolder(path: folder.appending(".\(path.stem ?? "")_SUPPORT"))
    }
}
