import Crypto
package import ShipProtocol
package import SystemPackage

/// An open file with one owner: its end closes the file.
package struct OpenFile: ~Copyable, Sendable {
    package let path: FilePath
    package let descriptor: FileDescriptor

    private init(path: FilePath, descriptor: FileDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { try? descriptor.close() }

    /// Kind, size and times of the open file.
    package var status: FileStatus {
        get throws(FileError) { try PlatformCalls.status(of: descriptor, path) }
    }

    /// Opens a file or a folder for reading. A symbolic link at the end of the path is followed.
    package static func reading(_ path: FilePath) throws(FileError) -> OpenFile {
        try open(path, .readOnly, [.closeOnExec])
    }

    /// Opens a regular file for reading, and does not wait for whoever writes into a pipe. A symbolic link at the end of the path is
    /// followed.
    ///
    /// - Throws: `.invalidArgument` for anything else.
    package static func readingPlain(_ path: FilePath) throws(FileError) -> OpenFile {
        let file = try open(path, .readOnly, [.closeOnExec, .nonBlocking])
        guard try file.status.kind == .file else { throw FileError(.open, path, .invalidArgument) }
        return file
    }

    /// Opens an existing file for reading; a symbolic link at the end of the path is an error.
    package static func readingWithoutFollowing(_ path: FilePath) throws(FileError) -> OpenFile {
        try open(path, .readOnly, [.closeOnExec, .noFollow])
    }

    /// Opens a folder: a symbolic link at the end of the path is an error, unless it is to be followed.
    ///
    /// - Throws: `.notDirectory` for anything else.
    package static func folder(_ path: FilePath, following: Bool = false) throws(FileError) -> OpenFile {
        try open(path, .readOnly, following ? [.closeOnExec, .directory] : [.closeOnExec, .directory, .noFollow])
    }

    /// Makes a file that must not be there yet, for its owner only.
    package static func creating(_ path: FilePath) throws(FileError) -> OpenFile {
        let file = try open(path, .readWrite, [.closeOnExec, .create, .exclusiveCreate, .noFollow])
        try FileCreation.made(.file, path) { () throws(FileError) in try PlatformCalls.removeFile(path) }
        return file
    }

    /// Makes a file that must not be there yet, for its owner only, of the same blocks as another one.
    ///
    /// - Returns: `nil`, and nothing is made, where the file system does not do that.
    package static func creating(_ path: FilePath, cloning source: borrowing OpenFile) throws(FileError) -> OpenFile? {
        guard PlatformCalls.clone(source.descriptor, as: path) else { return nil }
        let file = try open(path, .readWrite, [.closeOnExec, .noFollow])
        try FileCreation.made(.file, path) { () throws(FileError) in try PlatformCalls.removeFile(path) }
        return file
    }

    /// Opens a file that nothing needs any more, to write over what it has.
    ///
    /// - Returns: `nil`, and the file is removed, where somebody else has it.
    package static func reusing(_ path: FilePath) throws(FileError) -> OpenFile? {
        if let file = try? open(path, .readWrite, [.closeOnExec, .noFollow]), file.isUnshared { return file }
        try PlatformCalls.removeFile(path)
        return nil
    }

    /// Whether a file that is open for writing has no second name, and no other process or descriptor has it, nor a map of it. `false` also
    /// where the system does not tell.
    package var isUnshared: Bool { PlatformCalls.isOpenOnce(descriptor) && (try? status.links) == 1 }

    /// A second descriptor of an open file, which shares the first one's position. `path` is for messages.
    package static func duplicating(_ descriptor: FileDescriptor, as path: FilePath) throws(FileError) -> OpenFile {
        OpenFile(path: path, descriptor: try PlatformCalls.duplicate(descriptor, path))
    }

    /// Takes over a descriptor, and closes it in the end. `path` is for messages.
    package static func owning(_ descriptor: FileDescriptor, as path: FilePath) -> OpenFile {
        OpenFile(path: path, descriptor: descriptor)
    }

    /// Never waits: a named pipe, which may have come after a look at the path, would wait for another program.
    ///
    /// - Throws: `.invalidArgument` for a pipe.
    private static func open(
        _ path: FilePath, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions
    ) throws(FileError) -> OpenFile {
        func descriptor(_ options: FileDescriptor.OpenOptions) throws -> FileDescriptor {
            try FileDescriptor.open(path, mode, options: options, permissions: .ownerReadWrite)
        }
        let file: OpenFile
        do {
            let opened: FileDescriptor
            do {
                opened = try descriptor(options.union(.nonBlocking))
            } catch Errno.wouldBlock {
                // Another program has a lease, which only a regular file has, and gives it back [fcntl(2)].
                opened = try descriptor(options)
            }
            file = OpenFile(path: path, descriptor: opened)
        } catch {
            throw FileError(.open, path, error as? Errno ?? .ioError)
        }
        guard try file.status.kind != .pipe else { throw FileError(.open, path, .invalidArgument) }
        return file
    }

    /// Size of the file, in bytes.
    package var size: Int64 {
        get throws(FileError) { try PlatformCalls.status(of: descriptor, path).size }
    }

    /// Appends all bytes at the file's position.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        _ = try wrapping(.write) { try descriptor.writeAll(bytes) }
    }

    /// Reads up to `count` bytes at `offset`, fewer only at the end of the file.
    package func read(_ count: Int, at offset: Int64) throws(FileError) -> [UInt8] {
        try wrapping(.read) {
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = try fill(UnsafeMutableRawBufferPointer(buffer), from: offset)
            }
        }
    }

    /// Reads from `offset` into a buffer.
    ///
    /// - Returns: The number of bytes: less than the buffer's size only at the end of the file.
    package func read(into bytes: inout [UInt8], at offset: Int64) throws(FileError) -> Int {
        try wrapping(.read) { try bytes.withUnsafeMutableBytes { try fill($0, from: offset) } }
    }

    private func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int64) throws -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let read = try descriptor.read(fromAbsoluteOffset: offset + Int64(done), into: rest)
            guard read > 0 else { break }
            done += read
        }
        return done
    }

    /// Writes all bytes at `offset`; the file's position stays.
    package func write(_ bytes: [UInt8], at offset: Int64) throws(FileError) {
        _ = try wrapping(.write) { try descriptor.writeAll(toAbsoluteOffset: offset, bytes) }
    }

    /// Cuts or extends the file to a size.
    package func truncate(to size: Int64) throws(FileError) {
        try wrapping(.write) { try descriptor.resize(to: size) }
    }

    /// Reads up to `count` bytes at the file's position.
    ///
    /// - Returns: `nil` at the end of the file.
    package func readNext(_ count: Int) throws(FileError) -> [UInt8]? {
        let bytes = try wrapping(.read) {
            try [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
                initialized = try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        }
        return bytes.isEmpty ? nil : bytes
    }

    private func wrapping<Value>(
        _ operation: FileError.Operation, _ calls: () throws -> Value
    ) throws(FileError) -> Value {
        do {
            return try calls()
        } catch {
            throw FileError(operation, path, error as? Errno ?? .ioError)
        }
    }

    /// Its permissions. A file that this process has made keeps those that it has where the file system has none, as FAT has none.
    package func changeMode(to mode: FilePermissions) throws(FileError) {
        try FileError.unless([.notPermitted, .notSupported, .noFunction]) { () throws(FileError) in
            try PlatformCalls.changeMode(of: descriptor, path, to: mode)
        }
    }

    /// Gives the file a time of change that is at least a second after another, if it has an earlier one, and there are later ones.
    package func setModified(after time: Duration) throws(FileError) {
        let (second, isBeyond) = time.components.seconds.addingReportingOverflow(1)
        let earliest = Duration.seconds(second)
        guard !isBeyond, try status.modified < earliest else { return }
        try PlatformCalls.setModified(of: descriptor, path, to: earliest)
    }

    /// See `PlatformCalls.sync`.
    package func sync() throws(FileError) {
        try PlatformCalls.sync(descriptor, path)
    }
}

/// SHA-256 of a file, which is read in pieces.
extension ContentDigest {
    /// Bytes read at a time.
    private static let pieceSize = 256 * 1024

    /// Reads the whole file at `path` from its start. A symbolic link at the end of the path is an error.
    ///
    /// - Parameter isCancelled: Asked before each piece, for work outside of a task.
    /// - Throws: `.canceled` once it returns `true`.
    package init(ofFile path: FilePath, unless isCancelled: () -> Bool = { Task.isCancelled }) throws(FileError) {
        try self.init(ofFile: try OpenFile.readingWithoutFollowing(path), unless: isCancelled)
    }

    /// Reads the whole file from its start, or these bytes of it; the file's position stays.
    ///
    /// - Throws: `.canceled`, as above.
    package init(
        ofFile file: borrowing OpenFile, in range: Range<Int64> = 0..<Int64.max,
        unless isCancelled: () -> Bool = { Task.isCancelled }
    ) throws(FileError) {
        var hash = SHA256()
        var offset = range.lowerBound
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 4096)
        defer { buffer.deallocate() }
        while offset < range.upperBound {
            if isCancelled() { throw FileError(.read, file.path, .canceled) }
            let count: Int
            do {
                let most = Int(min(Int64(Self.pieceSize), range.upperBound - offset))
                count = try file.descriptor.read(
                    fromAbsoluteOffset: offset, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<most]))
            } catch {
                throw FileError(.read, file.path, error as? Errno ?? .ioError)
            }
            guard count > 0 else { break }
            hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += Int64(count)
        }
        self.init(sha256: Array(hash.finalize()))
    }

    /// SHA-256 of bytes in memory.
    package init(hashing bytes: some Sequence<UInt8>) {
        self.init(sha256: Array(SHA256.hash(data: Array(bytes))))
    }
}
