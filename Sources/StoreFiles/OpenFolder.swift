package import SystemPackage

/// An open folder with one owner: what is reached through it lies in it or below it, whatever happens to its own path
/// meanwhile. No symbolic link is followed, at no place of a path.
///
/// The paths that its methods take begin with its own `path`, which is cut off: they say the same in messages as anywhere.
package struct OpenFolder: ~Copyable, Sendable {
    package let path: FilePath
    let descriptor: FileDescriptor
    let resolution: Resolution

    /// By whom a path of several components is followed.
    package enum Resolution: Hashable, Sendable {
        /// By the kernel, in one step: openat2(2). Where it cannot, component by component.
        case kernel
        /// Component by component, each opened with `O_NOFOLLOW`.
        case componentwise
    }

    private init(path: FilePath, descriptor: FileDescriptor, _ resolution: Resolution) {
        self.path = path
        self.descriptor = descriptor
        self.resolution = resolution
    }

    deinit { try? descriptor.close() }

    /// - Throws: `.notDirectory` for a symbolic link at the end of the path, and for a file.
    package init(_ path: FilePath) throws(FileError) {
        try self.init(path, [.noFollow], .kernel)
    }

    /// Opens a folder that a user has named: links on the way to it are the user's.
    package init(following path: FilePath, _ resolution: Resolution = .kernel) throws(FileError) {
        try self.init(path, [], resolution)
    }

    private init(
        _ path: FilePath, _ options: FileDescriptor.OpenOptions, _ resolution: Resolution
    ) throws(FileError) {
        do {
            let descriptor = try FileDescriptor.open(
                path.isEmpty ? "." : path, .readOnly, options: options.union([.closeOnExec, .directory]))
            self.init(path: path, descriptor: descriptor, resolution)
        } catch {
            throw FileError(.open, path, error as? Errno ?? .ioError)
        }
    }

    /// What is open, whatever its name leads to by now.
    package var status: FileStatus {
        get throws(FileError) { try PlatformCalls.status(of: descriptor, path) }
    }

    /// The folder under a name that is good in this process alone, for as long as this value lives, and that leads nowhere
    /// else: for what opens files by their path. Where the platform has no such names, its own path.
    package var pathByDescriptor: FilePath { PlatformCalls.pathByDescriptor(descriptor) ?? path }

    /// Bytes that this process may still write around here.
    package var freeSpace: Int64 {
        get throws(FileError) { try PlatformCalls.freeSpace(around: descriptor, path) }
    }

    // MARK: What is opened

    /// A folder in this one.
    package func folder(_ name: FilePath.Component) throws(FileError) -> OpenFolder {
        try folder(at: path.appending(name))
    }

    /// A file in this folder, for reading. Pipes and devices are opened, without waiting, for the caller to refuse them.
    package func file(_ name: FilePath.Component) throws(FileError) -> OpenFile {
        let path = path.appending(name)
        return OpenFile(adopting: try open(path, .readOnly, [.nonBlocking]), path: path)
    }

    package func folder(at path: FilePath) throws(FileError) -> OpenFolder {
        OpenFolder(path: path, descriptor: try open(path, .readOnly, [.directory]), resolution)
    }

    func folderToLock(at path: FilePath) throws(FileError) -> OpenFile {
        OpenFile(adopting: try open(path, .readOnly, [.directory]), path: path)
    }

    /// A regular file, for reading.
    ///
    /// - Throws: `.invalidArgument` for anything else.
    package func file(at path: FilePath) throws(FileError) -> OpenFile {
        let file = OpenFile(adopting: try open(path, .readOnly, [.nonBlocking]), path: path)
        guard try file.status.kind == .file else { throw FileError(.open, path, .invalidArgument) }
        return file
    }

    /// Makes a file that must not be there yet, for its owner only.
    package func makeFile(at path: FilePath) throws(FileError) -> OpenFile {
        let file = OpenFile(adopting: try open(path, .readWrite, [.create, .exclusiveCreate]), path: path)
        try FileCreation.made(.file, path) { () throws(FileError) in try removeFile(path) }
        return file
    }

    /// A regular file that is there already, for reading and writing.
    ///
    /// - Throws: `.invalidArgument` for anything else.
    package func fileToChange(at path: FilePath) throws(FileError) -> OpenFile {
        let file = OpenFile(adopting: try open(path, .readWrite, [.nonBlocking]), path: path)
        guard try file.status.kind == .file else { throw FileError(.open, path, .invalidArgument) }
        return file
    }

    /// Opens a file to keep a lock on, and makes it if it is not there.
    package func lockFile(at path: FilePath) throws(FileError) -> OpenFile {
        try OpenFile.openOrMake { () throws(FileError) in
            OpenFile(adopting: try open(path, .readWrite, [.nonBlocking]), path: path)
        } make: { () throws(FileError) in
            try makeFile(at: path)
        }
    }

    private func open(
        _ path: FilePath, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions
    ) throws(FileError) -> FileDescriptor {
        let inside = try inside(path)
        if resolution == .kernel,
            let opened = try PlatformCalls.openBeneath(descriptor, inside, path, mode, options)
        {
            return opened
        }
        return try at(path) { entry throws(FileError) in try PlatformCalls.open(entry, mode, options) }
    }

    // MARK: Paths

    private func inside(_ path: FilePath) throws(FileError) -> PathInside {
        guard let inside = PathInside(of: path, in: self.path) else { throw FileError(.resolve, path, .improperLink) }
        return inside
    }

    /// Opens the folders above the last component, and gives that one with the folder that it is in.
    func at<Result: ~Copyable>(
        _ path: FilePath, _ body: (FolderEntry) throws(FileError) -> Result
    ) throws(FileError) -> Result {
        let inside = try inside(path)
        // The folder itself is `.` in itself.
        let name = inside.names.last ?? inside.text
        guard let above = inside.above else { return try body(FolderEntry(folder: descriptor, name: name, path: path)) }
        let parent = try openFolder(above, path)
        defer { try? parent.close() }
        return try body(FolderEntry(folder: parent, name: name, path: path))
    }

    /// - Parameter path: For messages.
    private func openFolder(_ inside: PathInside, _ path: FilePath) throws(FileError) -> FileDescriptor {
        if resolution == .kernel,
            let opened = try PlatformCalls.openBeneath(descriptor, inside, path, .readOnly, [.directory])
        {
            return opened
        }
        var opened: FileDescriptor?
        for name in inside.names {
            let above = opened
            defer { try? above?.close() }
            opened = nil
            opened = try PlatformCalls.open(
                FolderEntry(folder: above ?? descriptor, name: name, path: path), .readOnly, [.directory])
        }
        guard let opened else { throw FileError(.resolve, path, .improperLink) }
        return opened
    }
}

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

    /// Makes the folder, private to its owner, and those above it that are missing, each made durable in its parent where that matters.
    package func makeFolder(at path: FilePath, _ lasting: Folder.Lasting = .durably) throws(FileError) {
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
            if lasting == .durably { try sync(place.removingLastComponent()) }
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
