import ShipProtocol
package import SystemPackage

/// An open folder with one owner. Its methods reach only what is in it or below it, whatever happens to its own path meanwhile, and
/// follow no symbolic link anywhere in a path.
///
/// The methods take paths that begin with the folder's own `path`, and cut that off, so that messages show full paths.
package struct OpenFolder: ~Copyable, Sendable {
    package let path: FilePath
    let descriptor: FileDescriptor

    private init(path: FilePath, descriptor: FileDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { try? descriptor.close() }

    /// - Throws: `.notDirectory` for a symbolic link at the end of the path, and for a file.
    package init(_ path: FilePath) throws(FileError) {
        try self.init(path, [.noFollow])
    }

    /// Opens a folder that a user has named, and follows links on the way: they are the user's.
    package init(following path: FilePath) throws(FileError) {
        try self.init(path, [])
    }

    private init(_ path: FilePath, _ options: FileDescriptor.OpenOptions) throws(FileError) {
        do {
            let descriptor = try FileDescriptor.open(
                path.isEmpty ? "." : path, .readOnly, options: options.union([.closeOnExec, .directory]))
            self.init(path: path, descriptor: descriptor)
        } catch {
            throw FileError(.open, path, error as? Errno ?? .ioError)
        }
    }

    /// Of the open folder, whatever its name leads to by now.
    package var status: FileStatus {
        get throws(FileError) { try PlatformCalls.status(of: descriptor, path) }
    }

    /// A name of the folder for code that opens files by path: valid in this process while this value lives, and never for another
    /// folder. On a platform without such names, the folder's own path.
    package var pathByDescriptor: FilePath { PlatformCalls.pathByDescriptor(descriptor) ?? path }

    /// Bytes that this process may still write to the disk of the folder.
    package var freeSpace: Int64 {
        get throws(FileError) { try PlatformCalls.freeSpace(around: descriptor, path) }
    }

    // MARK: Opening

    package func folder(_ name: FilePath.Component) throws(FileError) -> OpenFolder {
        try folder(at: path.appending(name))
    }

    /// A file in this folder, for reading. It opens pipes and devices too, without waiting: the caller refuses them.
    package func file(_ name: FilePath.Component) throws(FileError) -> OpenFile {
        let path = path.appending(name)
        return OpenFile.owning(try open(path, .readOnly, [.nonBlocking]), as: path)
    }

    package func folder(at path: FilePath) throws(FileError) -> OpenFolder {
        OpenFolder(path: path, descriptor: try open(path, .readOnly, [.directory]))
    }

    func folderToLock(at path: FilePath) throws(FileError) -> OpenFile {
        OpenFile.owning(try open(path, .readOnly, [.directory]), as: path)
    }

    /// An existing regular file, for reading, unless said otherwise.
    ///
    /// - Throws: `.invalidArgument` for anything else.
    package func file(at path: FilePath, _ mode: FileDescriptor.AccessMode = .readOnly) throws(FileError) -> OpenFile {
        let file = OpenFile.owning(try open(path, mode, [.nonBlocking]), as: path)
        guard try file.status.kind == .file else { throw FileError(.open, path, .invalidArgument) }
        return file
    }

    /// Makes a file that must not be there yet, for its owner only.
    package func makeFile(at path: FilePath) throws(FileError) -> OpenFile {
        let file = OpenFile.owning(try open(path, .readWrite, [.create, .exclusiveCreate]), as: path)
        try FileCreation.made(.file, path) { () throws(FileError) in try removeFile(path) }
        return file
    }

    /// Opens a file to keep a lock on, or makes it if it is not there, so that exactly one process makes it.
    package func lockFile(at path: FilePath) throws(FileError) -> OpenFile {
        while true {
            let opened = try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
                try inPlaceOfFolder(path) { () throws(FileError) in try open(path, .readWrite, [.nonBlocking]) }
            }
            if let opened { return OpenFile.owning(opened, as: path) }
            do throws(FileError) {
                return try makeFile(at: path)
            } catch {
                // Another process has made it meanwhile.
                guard error.operation == .open, error.errno == .fileExists else { throw error }
            }
        }
    }

    private func open(
        _ path: FilePath, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions
    ) throws(FileError) -> FileDescriptor {
        try at(path) { entry throws(FileError) in try PlatformCalls.open(entry, mode, options) }
    }

    // MARK: Paths

    /// Opens the folder of the last component, one component after the other, and calls `body` with both.
    func at<Result: ~Copyable>(
        _ path: FilePath, _ body: (FolderEntry) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        guard let inside = PathInside(of: path, in: self.path) else { throw FileError(.resolve, path, .improperLink) }
        var opened: FileDescriptor?
        defer { try? opened?.close() }
        for name in inside.above {
            let above = opened
            defer { try? above?.close() }
            opened = nil
            opened = try PlatformCalls.open(
                FolderEntry(folder: above ?? descriptor, name: name, path: path), .readOnly, [.directory])
        }
        return try body(FolderEntry(folder: opened ?? descriptor, name: inside.name, path: path))
    }
}

/// Names in an open folder and below it.
extension OpenFolder {
    /// lstat(2): of a symbolic link itself.
    package func status(of path: FilePath) throws(FileError) -> FileStatus {
        try at(path) { entry throws(FileError) in try PlatformCalls.status(of: entry) }
    }

    /// The same, where nothing may be there.
    ///
    /// - Returns: `nil` only where nothing has the name: an error of the system proves nothing.
    package func statusIfThere(of path: FilePath) throws(FileError) -> FileStatus? {
        try FileError.unlessAbsent { () throws(FileError) in try status(of: path) }
    }

    /// Whether anything has the name, even a dangling link.
    package func holds(_ path: FilePath) throws(FileError) -> Bool { try statusIfThere(of: path) != nil }

    package func targetOfSymbolicLink(at path: FilePath) throws(FileError) -> FilePath {
        try at(path) { entry throws(FileError) in try PlatformCalls.targetOfSymbolicLink(at: entry) }
    }

    /// The names in a folder, sorted, without `.` and `..`.
    package func names(in path: FilePath) throws(FileError) -> [String] {
        try components(in: path).map(\.text).sorted()
    }

    /// The same, in the order of the file system.
    package func components(in path: FilePath) throws(FileError) -> [FilePath.Component] {
        // A descriptor of its own: listing moves its position.
        let folder = try folder(at: path)
        let copy = try PlatformCalls.duplicate(folder.descriptor, path)
        return try PlatformCalls.names(in: copy, path)
    }

    /// Makes the folder, private to its owner, and missing folders above it.
    ///
    /// - Parameter durably: Whether it has to survive a power cut: then it syncs the parent of each that it makes.
    package func makeFolder(at path: FilePath, durably: Bool = true) throws(FileError) {
        // Most often it is there. A receiver makes those durable that a killed one has made, when it starts.
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
            guard durably else { continue }
            do throws(FileError) {
                try sync(place.removingLastComponent())
            } catch {
                // As in `Folder.make`.
                if error.operation == .sync { try? removeEmptyFolder(at: place) }
                throw error
            }
        }
    }

    /// Atomic, and it replaces what is there.
    package func rename(_ source: FilePath, to target: FilePath) throws(FileError) {
        try at(source) { source throws(FileError) in
            try at(target) { target throws(FileError) in try PlatformCalls.rename(source, to: target) }
        }
    }

    /// The same with a file or a link in the place of one. An empty folder that has the name goes.
    package func put(_ source: FilePath, at target: FilePath) throws(FileError) {
        try inPlaceOfFolder(target) { () throws(FileError) in try rename(source, to: target) }
    }

    /// - Parameter body: Runs again once the empty folder is gone that has the name of a file.
    private func inPlaceOfFolder<Result: ~Copyable>(
        _ path: FilePath, _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        do throws(FileError) {
            return try body()
        } catch {
            guard error.errno == .isDirectory else { throw error }
            guard (try? removeEmptyFolder(at: path)) != nil else { throw FileError(.write, path, .isDirectory) }
            return try body()
        }
    }

    /// Writes a file in one step: aside, where nothing may be yet and nothing stays after an error, and then in the place of what is there.
    ///
    /// - Parameter durably: Whether its content has to survive a power cut: then it is synced, and the caller syncs the folder.
    package func replace(
        _ path: FilePath, with bytes: [UInt8], aside: FilePath, durably: Bool = true
    ) throws(FileError) {
        let file = try makeFile(at: aside)
        do throws(FileError) {
            try file.write(bytes)
            if durably { try file.sync() }
            try put(aside, at: path)
        } catch {
            try? removeFile(aside)
            throw error
        }
    }

    /// A second name for a file, or for a symbolic link, in this folder.
    package func hardLink(_ name: FilePath.Component, as target: FilePath) throws(FileError) {
        try at(path.appending(name)) { entry throws(FileError) in try PlatformCalls.hardLink(entry, as: target) }
    }

    /// A second name, here or in a folder of this one, for a regular file of another open folder.
    ///
    /// - Throws: `.invalidArgument` for anything but a regular file.
    package func hardLink(_ source: FilePath, in other: borrowing OpenFolder, as target: FilePath) throws(FileError) {
        try other.at(source) { source throws(FileError) in
            try at(target) { target throws(FileError) in try PlatformCalls.hardLink(source, as: target) }
        }
        guard try status(of: target).kind == .file else {
            try? removeFile(target)
            throw FileError(.link, source, .invalidArgument)
        }
    }

    /// Makes a file that must not be there yet, with the content of another one, which stays as it is: of the same blocks where the file
    /// system does that, or else a copy.
    ///
    /// - Throws: `.canceled` with its task.
    package func makeFile(at path: FilePath, cloning source: borrowing OpenFile) throws(FileError) {
        let descriptor = source.descriptor
        let isClone = try at(path) { entry throws(FileError) in PlatformCalls.clone(descriptor, as: entry) }
        guard isClone else { return try source.copyContent(to: try makeFile(at: path)) }
        try FileCreation.made(.file, path) { () throws(FileError) in try removeFile(path) }
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

    /// Removes a file, a link or a folder with its content. A missing one is no error.
    package func removeTree(at path: FilePath) throws(FileError) {
        try FileError.unless([.noSuchFileOrDirectory]) { () throws(FileError) in
            guard try status(of: path).kind == .folder else { return try removeFile(path) }
            let folder = try folder(at: path)
            for name in try folder.components(in: path) { try folder.removeTree(at: path.appending(name)) }
            try removeEmptyFolder(at: path)
        }
    }

    /// fsync(2) on a folder: without it a rename in it may not survive a power cut.
    package func sync(_ path: FilePath) throws(FileError) {
        if path == self.path { return try PlatformCalls.sync(descriptor, path) }
        let folder = try folder(at: path)
        try PlatformCalls.sync(folder.descriptor, path)
    }
}
