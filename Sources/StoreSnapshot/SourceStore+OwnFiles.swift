import ShipProtocol
package import StoreFiles
package import SystemPackage

extension SourceStore {
    /// Whether a file written at a path would replace a part of the store, under any name: its file, its sidecars, whether they
    /// exist or not, and the files in its support folder.
    package func owns(_ target: FilePath) -> Bool {
        if let status = try? PlatformCalls.statusFollowingLinks(of: target), owns(status) { return true }
        let places = [Self.place(of: target), try? PlatformCalls.realPath(of: target)].compactMap(\.self)
        let support = supportFolder
        return places.contains { ownPaths.contains($0) || $0.starts(with: support) }
    }

    /// Whether an open file is a part of the store.
    package func owns(_ status: FileStatus) -> Bool {
        guard status.kind == .file else { return false }
        if ownPaths.contains(where: { isSame($0, status) }) { return true }
        // A second name of an external file.
        guard status.links > 1 else { return false }
        return ExternalFileName.Folder.allCases.contains { folder in
            let path = supportFolder.appending(folder.rawValue)
            return (try? Folder.names(in: path))?.contains { isSame(path.appending(text: $0), status) } ?? false
        }
    }

    private var ownPaths: [FilePath] { [path] + ["-wal", "-shm", "-journal"].map { FilePath(text: path.text + $0) } }

    private var supportFolder: FilePath {
        let folder = SourceSupportFolder(beside: path).path
        return (try? PlatformCalls.realPath(of: folder)) ?? folder
    }

    private func isSame(_ path: FilePath, _ status: FileStatus) -> Bool {
        (try? PlatformCalls.statusFollowingLinks(of: path))?.identity == status.identity
    }

    /// Where a file of that name would be made: its folder without symbolic links.
    private static func place(of target: FilePath) -> FilePath? {
        guard let name = target.lastComponent else { return nil }
        return (try? PlatformCalls.realPath(of: Folder.parent(of: target)))?.appending(name)
    }
}

extension SourceStore {
    /// Largest file of a small store, in bytes.
    private static let largestSmall: Int64 = 16 * 1024 * 1024

    /// Whether a copy takes little disk space: no file of the store is large, and there are no external files.
    package var isSmall: Bool {
        guard let size = try? PlatformCalls.status(of: path).size, size <= Self.largestSmall,
            (try? PlatformCalls.status(of: supportFolder)) == nil
        else { return false }
        let log = try? PlatformCalls.status(of: FilePath(text: path.text + "-wal")).size
        return log.map { $0 <= Self.largestSmall } ?? true
    }
}
