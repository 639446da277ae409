package import SystemPackage

/// An open folder with one owner: what is reached through it stays in it, whatever happens to the path meanwhile. No
/// symbolic link is followed.
package struct OpenFolder: ~Copyable, Sendable {
    package let path: FilePath
    private let descriptor: FileDescriptor

    private init(path: FilePath, descriptor: FileDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { try? descriptor.close() }

    /// - Throws: `.notDirectory` for a symbolic link at the end of the path, and for a file.
    package init(_ path: FilePath) throws(FileError) {
        do {
            let descriptor = try FileDescriptor.open(
                path, .readOnly, options: [.closeOnExec, .noFollow, .directory])
            self.init(path: path, descriptor: descriptor)
        } catch {
            throw FileError(.open, path, error as? Errno ?? .ioError)
        }
    }

    /// What is open, whatever its name leads to by now.
    package var status: FileStatus {
        get throws(FileError) { try PlatformCalls.status(of: descriptor, path) }
    }

    /// A folder in this one.
    package func folder(_ name: FilePath.Component) throws(FileError) -> OpenFolder {
        let path = path.appending(name)
        let descriptor = try PlatformCalls.open(name, in: descriptor, path, [.closeOnExec, .noFollow, .directory])
        return OpenFolder(path: path, descriptor: descriptor)
    }

    /// A file in this folder, for reading. Pipes and devices are opened, without waiting, for the caller to refuse them.
    package func file(_ name: FilePath.Component) throws(FileError) -> OpenFile {
        let path = path.appending(name)
        let descriptor = try PlatformCalls.open(name, in: descriptor, path, [.closeOnExec, .noFollow, .nonBlocking])
        return OpenFile(adopting: descriptor, path: path)
    }

    /// A second name for a file, or for a symbolic link, in this folder.
    package func hardLink(_ name: FilePath.Component, as target: FilePath) throws(FileError) {
        try PlatformCalls.hardLink(name, in: descriptor, path.appending(name), as: target)
    }
}
