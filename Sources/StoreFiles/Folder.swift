import ShipProtocol
package import SystemPackage

/// Folders by their paths: making, listing, removing, syncing. `OpenFolder` does the same without trusting paths.
package enum Folder {
    /// Makes the folder, private to its owner, and missing folders above it.
    ///
    /// - Parameters:
    ///   - durably: Whether it has to survive a power cut. Then its parent is synced, also where the folder is there, which a
    ///   killed process may have made. Nothing is made in a folder before that itself is durable: so one level is enough.
    ///   - attributes: Of each that it makes; `nil` for this user alone.
    package static func make(
        _ path: FilePath, durably: Bool = true, with attributes: FileAttributes? = nil
    ) throws(FileError) {
        var made: [FilePath] = []
        try make(path, durably: durably, with: attributes, noting: &made)
    }

    /// - Parameter made: The folders that it makes are put in front of it.
    package static func make(
        _ path: FilePath, durably: Bool = true, with attributes: FileAttributes? = nil, noting made: inout [FilePath]
    ) throws(FileError) {
        if try isThere(path) { return durably ? try syncIfReadable(parent(of: path)) : () }
        if path.lastComponent != nil,
            (try? PlatformCalls.statusFollowingLinks(of: parent(of: path)).kind) ?? .folder == .folder
        {
            try make(parent(of: path), durably: durably, with: attributes, noting: &made)
        }
        do throws(FileError) {
            try PlatformCalls.makeFolder(path)
            made.insert(path, at: 0)
            try attributes?.give(to: path)
        } catch {
            guard error.errno == .fileExists else { throw error }
            // Another process has made it meanwhile, and may have removed it again; or it is a symbolic link that leads nowhere.
            let isLink = (try? PlatformCalls.status(of: path).kind) == .symbolicLink
            if isLink, try !isThere(path) { throw FileError(.makeFolder, path, .noSuchFileOrDirectory) }
            return try make(path, durably: durably, with: attributes, noting: &made)
        }
        guard durably else { return }
        do throws(FileError) {
            try sync(parent(of: path))
        } catch {
            // fsync(2) tells of a lost write only once.
            if error.operation == .sync { try? PlatformCalls.removeEmptyFolder(path) }
            throw error
        }
    }

    /// - Throws: `.notDirectory` for anything but a folder.
    private static func isThere(_ path: FilePath) throws(FileError) -> Bool {
        // mkdir(2) says better what is wrong with the way there. An error of the system proves nothing.
        let status = try FileError.unless(FileError.absence + [.permissionDenied, .tooManySymbolicLinkLevels]) {
            () throws(FileError) in
            try PlatformCalls.statusFollowingLinks(of: path)
        }
        guard let status else { return false }
        guard status.kind == .folder else { throw FileError(.makeFolder, path, .notDirectory) }
        return true
    }

    /// The folder that a path is in: by its name, whether it is there or not.
    package static func parent(of path: FilePath) -> FilePath {
        let parent = path.removingLastComponent()
        return parent.isEmpty ? "." : parent
    }

    /// A folder that may be entered and not read cannot be synced, and a special one neither [fsync(2)]: what is in it was not made by
    /// us then.
    package static func syncIfReadable(_ path: FilePath) throws(FileError) {
        try FileError.unless([.permissionDenied, .invalidArgument, .readOnlyFileSystem]) { () throws(FileError) in
            try sync(path)
        }
    }

    /// The names in a folder, as in `PathText`, sorted, without `.` and `..`.
    package static func names(in path: FilePath) throws(FileError) -> [String] {
        try PlatformCalls.names(in: try PlatformCalls.openFolder(path), path).map(\.text).sorted()
    }

    /// Removes a file, a link or a folder with its content. A missing one is no error.
    package static func removeTree(at path: FilePath) throws(FileError) {
        try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
            guard try PlatformCalls.status(of: path).kind == .folder else { return try PlatformCalls.removeFile(path) }
            let folder = try OpenFolder(path)
            for name in try folder.components(in: path) { try folder.removeTree(at: path.appending(name)) }
            try PlatformCalls.removeEmptyFolder(path)
        }
    }

    /// fsync(2) on the folder: without it a rename in it may not survive a power cut.
    package static func sync(_ path: FilePath) throws(FileError) {
        let folder = try OpenFile.folder(path, following: true)
        try PlatformCalls.sync(folder.descriptor, path)
    }
}
