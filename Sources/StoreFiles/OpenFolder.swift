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
