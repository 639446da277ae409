package import SystemPackage

/// What is done to names in an open folder and below it.
extension OpenFolder {
    /// lstat(2): of a symbolic link itself.
    package func status(of path: FilePath) throws(FileError) -> FileStatus {
        try at(path) { entry throws(FileError) in try PlatformCalls.status(of: entry) }
    }

    /// Whether anything has the name, a link that leads nowhere included.
    package func holds(_ path: FilePath) -> Bool { (try? status(of: path)) != nil }

    package func targetOfSymbolicLink(at path: FilePath) throws(FileError) -> FilePath {
        try at(path) { entry throws(FileError) in try PlatformCalls.targetOfSymbolicLink(at: entry) }
    }

    /// The names in a folder, sorted, without `.` and `..`.
    package func names(in path: FilePath) throws(FileError) -> [String] {
        try components(in: path).map(\.string).sorted()
    }

    /// The same, in no order, as the file system has them.
    package func components(in path: FilePath) throws(FileError) -> [FilePath.Component] {
        // A descriptor of its own: listing moves its position.
        let folder = try folder(at: path)
        let copy = try PlatformCalls.duplicate(folder.descriptor, path)
        return try PlatformCalls.names(in: copy, path)
    }

    /// Makes the folder, private to its owner, and those above it that are missing, each made durable in its parent.
    package func makeFolder(at path: FilePath) throws(FileError) {
        // Most often it is there.
        if (try? status(of: path))?.kind == .folder { return }
        var missing: [FilePath] = []
        var place = path
        while place != self.path, !place.isEmpty {
            missing.append(place)
            place = place.removingLastComponent()
        }
        for place in missing.reversed() {
            do throws(FileError) {
                try at(place) { entry throws(FileError) in try PlatformCalls.makeFolder(entry) }
            } catch {
                guard error.errno == .fileExists else { throw error }
                guard try status(of: place).kind == .folder else {
                    throw FileError(.makeFolder, place, .notDirectory)
                }
                continue
            }
            try sync(place.removingLastComponent())
        }
    }

    /// Atomic, and it replaces what is there.
    package func rename(_ source: FilePath, to target: FilePath) throws(FileError) {
        try at(source) { source throws(FileError) in
            try at(target) { target throws(FileError) in try PlatformCalls.rename(source, to: target) }
        }
    }

    /// A second name for a file, or for a symbolic link, in this folder.
    package func hardLink(_ name: FilePath.Component, as target: FilePath) throws(FileError) {
        try at(path.appending(name)) { entry throws(FileError) in try PlatformCalls.hardLink(entry, as: target) }
    }

    /// A second name, here or in a folder of this one, for a regular file of another open folder.
    ///
    /// - Throws: `.invalidArgument` for anything but a regular file.
    package func hardLink(
        _ source: FilePath, in other: borrowing OpenFolder, as target: FilePath
    ) throws(FileError) {
        try other.at(source) { source throws(FileError) in
            try at(target) { target throws(FileError) in try PlatformCalls.hardLink(source, as: target) }
        }
        guard try status(of: target).kind == .file else {
            try? removeFile(target)
            throw FileError(.link, source, .invalidArgument)
        }
    }

    /// `target` is stored as it is.
    package func symbolicLink(at path: FilePath, to target: FilePath) throws(FileError) {
        try at(path) { entry throws(FileError) in try PlatformCalls.symbolicLink(at: entry, to: target) }
    }

    package func removeFile(_ path: FilePath) throws(FileError) {
        try at(path) { entry throws(FileError) in try PlatformCalls.removeFile(entry) }
    }

    /// - Throws: `.directoryNotEmpty` if something is in it.
    package func removeEmptyFolder(at path: FilePath) throws(FileError) {
        try at(path) { entry throws(FileError) in try PlatformCalls.removeEmptyFolder(entry) }
    }

    /// Removes a file, a link or a folder with all that is in it. What is not there is no error.
    package func removeTree(at path: FilePath) throws(FileError) {
        do throws(FileError) {
            switch try status(of: path).kind {
            case .folder:
                let folder = try folder(at: path)
                for name in try folder.components(in: path) {
                    try folder.removeTree(at: path.appending(name))
                }
                try removeEmptyFolder(at: path)
            case .file, .symbolicLink, .pipe, .socket, .characterDevice, .other: try removeFile(path)
            }
        } catch {
            guard error.errno == .noSuchFileOrDirectory else { throw error }
        }
    }

    /// fsync(2) on a folder: without it a rename in it may not survive a power cut.
    package func sync(_ path: FilePath) throws(FileError) {
        if path == self.path { return try PlatformCalls.sync(descriptor, path) }
        let folder = try folder(at: path)
        try PlatformCalls.sync(folder.descriptor, path)
    }
}
