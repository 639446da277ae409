package import SystemPackage

/// An open file with one owner, closed when the owner is done with it.
package struct OpenFile: ~Copyable, Sendable {
    package let path: FilePath
    package let descriptor: FileDescriptor

    private init(path: FilePath, descriptor: FileDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Takes over a descriptor that is open.
    init(adopting descriptor: FileDescriptor, path: FilePath) {
        self.init(path: path, descriptor: descriptor)
    }

    deinit { try? descriptor.close() }

    /// What is open: its kind, its size, its times.
    package var status: FileStatus {
        get throws(FileError) { try PlatformCalls.status(of: descriptor, path) }
    }

    /// Opens a file or a folder for reading. A symbolic link at the end of the path is followed.
    package static func reading(_ path: FilePath) throws(FileError) -> OpenFile {
        try open(path, .readOnly, [.closeOnExec])
    }

    /// Opens an existing file for reading; a symbolic link at the end of the path is an error.
    package static func readingWithoutFollowing(_ path: FilePath) throws(FileError) -> OpenFile {
        try open(path, .readOnly, [.closeOnExec, .noFollow])
    }

    /// Makes a file that must not be there yet, for its owner only.
    package static func creating(_ path: FilePath) throws(FileError) -> OpenFile {
        let file = try open(path, .readWrite, [.closeOnExec, .create, .exclusiveCreate, .noFollow])
        try FileCreation.made(.file, path) { () throws(FileError) in try PlatformCalls.removeFile(path) }
        return file
    }

    /// Opens a file to keep a lock on, and makes it if it is not there.
    package static func lockFile(_ path: FilePath) throws(FileError) -> OpenFile {
        try openOrMake { () throws(FileError) in
            try open(path, .readWrite, [.closeOnExec, .noFollow])
        } make: { () throws(FileError) in
            try creating(path)
        }
    }

    /// Opens what is there, or makes it: who makes it knows that it did.
    static func openOrMake(
        _ open: () throws(FileError) -> OpenFile, make: () throws(FileError) -> OpenFile
    ) throws(FileError) -> OpenFile {
        while true {
            do throws(FileError) {
                return try open()
            } catch {
                guard error.errno == .noSuchFileOrDirectory else { throw error }
            }
            do throws(FileError) {
                return try make()
            } catch {
                // Somebody else has made it meanwhile.
                guard error.operation == .open, error.errno == .fileExists else { throw error }
            }
        }
    }

    /// A second descriptor of an open file, which keeps its position with the first. `path` is for messages.
    package static func duplicating(_ descriptor: FileDescriptor, as path: FilePath) throws(FileError) -> OpenFile {
        OpenFile(path: path, descriptor: try PlatformCalls.duplicate(descriptor, path))
    }

    /// Takes over a descriptor, to close it in the end. `path` is for messages.
    package static func owning(_ descriptor: FileDescriptor, as path: FilePath) -> OpenFile {
        OpenFile(path: path, descriptor: descriptor)
    }

    private static func open(
        _ path: FilePath, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions
    ) throws(FileError) -> OpenFile {
        do {
            let descriptor = try FileDescriptor.open(path, mode, options: options, permissions: .ownerReadWrite)
            return OpenFile(path: path, descriptor: descriptor)
        } catch {
            throw FileError(.open, path, error as? Errno ?? .ioError)
        }
    }

    /// Size of the file, in bytes.
    package var size: Int64 {
        get throws(FileError) { try PlatformCalls.status(of: descriptor, path).size }
    }

    /// Appends all bytes at the file's position.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        do {
            try descriptor.writeAll(bytes)
        } catch {
            throw FileError(.write, path, error as? Errno ?? .ioError)
        }
    }

    /// Appends all bytes at the file's position.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        do {
            try descriptor.writeAll(bytes)
        } catch {
            throw FileError(.write, path, error as? Errno ?? .ioError)
        }
    }

    /// Reads up to `count` bytes at `offset`, fewer only at the end of the file.
    package func read(_ count: Int, at offset: Int64) throws(FileError) -> [UInt8] {
        do {
            return try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                while initialized < count {
                    let rest = UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(buffer)[initialized...])
                    let read = try descriptor.read(fromAbsoluteOffset: offset + Int64(initialized), into: rest)
                    guard read > 0 else { break }
                    initialized += read
                }
            }
        } catch {
            throw FileError(.read, path, error as? Errno ?? .ioError)
        }
    }

    /// Fills a buffer with what is at `offset`.
    ///
    /// - Returns: How many bytes there were: fewer than the buffer has only at the end of the file.
    package func read(into bytes: inout [UInt8], at offset: Int64) throws(FileError) -> Int {
        do {
            return try bytes.withUnsafeMutableBytes { buffer in
                var done = 0
                while done < buffer.count {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
                    let read = try descriptor.read(fromAbsoluteOffset: offset + Int64(done), into: rest)
                    guard read > 0 else { break }
                    done += read
                }
                return done
            }
        } catch {
            throw FileError(.read, path, error as? Errno ?? .ioError)
        }
    }

    /// Writes all bytes at `offset`; the file's position stays.
    package func write(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        do {
            try descriptor.writeAll(toAbsoluteOffset: offset, bytes)
        } catch {
            throw FileError(.write, path, error as? Errno ?? .ioError)
        }
    }

    /// What is beyond it is gone.
    package func truncate(to size: Int64) throws(FileError) {
        do {
            try descriptor.resize(to: size)
        } catch {
            throw FileError(.write, path, error as? Errno ?? .ioError)
        }
    }

    /// Reads up to `count` bytes at the file's position.
    ///
    /// - Returns: `nil` at the end of the file.
    package func readNext(_ count: Int) throws(FileError) -> [UInt8]? {
        do {
            let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
            return bytes.isEmpty ? nil : bytes
        } catch {
            throw FileError(.read, path, error as? Errno ?? .ioError)
        }
    }

    /// Its permissions.
    package func changeMode(to mode: FilePermissions) throws(FileError) {
        try PlatformCalls.changeMode(of: descriptor, path, to: mode)
    }

    /// See `PlatformCalls.sync`.
    package func sync() throws(FileError) {
        try PlatformCalls.sync(descriptor, path)
    }
}

/// The names under which SQLite opens a file in a certain way. Source: sqlite.org/uri.html.
package enum DatabaseURI {
    /// Reads and writes, and never makes the file.
    package static func writing(_ path: FilePath) -> String { "file:\(escape(path))?mode=rw" }

    /// Reads a file that nobody changes: no lock is taken, and no sidecar is looked at.
    package static func immutable(_ path: FilePath) -> String { "file:\(escape(path))?immutable=1&mode=ro" }

    private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-~".utf8)

    /// Escapes every byte that could mean something in a URI; a slash has to stay.
    private static func escape(_ path: FilePath) -> String {
        path.string.utf8.map { byte in
            plain.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}
