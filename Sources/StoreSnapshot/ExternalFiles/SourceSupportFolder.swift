import ShipProtocol
import StoreFiles
import SystemPackage

/// The folder beside a Core Data store that holds its external files: `.<name without extension>_SUPPORT`.
struct SourceSupportFolder {
    let path: FilePath

    init(beside store: FilePath) {
        path = store.removingLastComponent().appending(text: ExternalFileName.supportFolder(ofStem: store.stemText))
    }

    func path(of name: ExternalFileName) -> FilePath {
        path.appending(name.folder.rawValue).appending(name.uuid)
    }

    /// Gives the file a second name, or copies it where that is not possible: the app may remove its own name at any
    /// moment. Only a regular file is taken, and no symbolic link is followed on the way from the store's folder.
    ///
    /// - Parameters:
    ///   - target: The new path of the file; its folder must exist.
    ///   - longest: A longer file, in bytes, is left where it is; `nil` takes any.
    /// - Returns: The size of the file, in bytes, whether it was too long or not; `nil` if it is missing.
    /// - Throws: `.strangeExternalFile`, `.noSpace`, `.file`.
    func gather(_ name: ExternalFileName, as target: FilePath, upTo longest: Int64?) throws(SnapshotError) -> Int64? {
        guard let file = FilePath.Component(name.uuid), let folderName = FilePath.Component(name.folder.rawValue) else {
            return nil
        }
        let longest = longest ?? .max
        let source = path(of: name)
        let status: FileStatus
        do throws(FileError) {
            let folder = try OpenFolder(path).folder(folderName)
            do throws(FileError) {
                try folder.hardLink(file, as: target)
                status = try PlatformCalls.status(of: target)
            } catch  where Self.isNoObstacleToCopying(error.errno) {
                status = try Self.copy(try folder.file(file), to: target, upTo: longest)
            }
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory: return nil
            case .tooManySymbolicLinkLevels where error.path == source: throw .strangeExternalFile(source)
            case _ where error.operation == .write: throw SnapshotError(writing: error, needed: 0)
            default: throw .file(error)
            }
        }
        guard status.kind == .file else { throw .strangeExternalFile(source) }
        if status.size > longest { try? PlatformCalls.removeFile(target) }
        return status.size
    }

    /// Another file system, one without links, or a file that this process may read but not link (`fs.protected_hardlinks`).
    static func isNoObstacleToCopying(_ errno: Errno) -> Bool {
        Errno.ofNoHardLinks.contains(errno) || errno == .improperLink || errno == .permissionDenied
    }

    /// - Parameter longest: A longer file, in bytes, is not copied.
    static func copy(
        _ source: borrowing OpenFile, to target: FilePath, upTo longest: Int64
    ) throws(FileError) -> FileStatus {
        let status = try source.status
        guard status.kind == .file, status.size <= longest else { return status }
        let copy = try OpenFile.creating(target)
        try source.copyContent(to: copy)
        return try copy.status
    }
}
