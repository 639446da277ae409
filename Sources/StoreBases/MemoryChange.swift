import EssentialFoundation
import StoreFiles
import SystemPackage

/// The memory while nobody else changes it: its index, and the files that this lists.
struct MemoryChange: ~Copyable {
    let folder: OpenFolder
    var index: BaseIndex
    private let lock: FolderLock

    init(_ folder: consuming OpenFolder, _ index: BaseIndex, holding lock: consuming FolderLock) {
        self.folder = folder
        self.index = index
        self.lock = lock
    }

    var objectFolder: FilePath { folder.path.appending(BaseMemory.objectFolder) }

    func path(of object: BaseIndex.Object) -> FilePath { objectFolder.appending(object.id) }

    func path(of stream: BaseIndex.Stream) -> FilePath { objectFolder.appending(stream.id) }

    /// Drops what is not there as it was put there, and what has waited for too long; and removes what nobody needs.
    mutating func settle() {
        for object in index.objects where !isThere(object) { drop(object) }
        for stream in index.streams { settle(stream) }
        removeUnused()
    }

    /// What somebody writes stays as it is.
    private mutating func settle(_ stream: BaseIndex.Stream) {
        let path = path(of: stream)
        guard let status = try? folder.status(of: path), stream.isIn(status), let file = try? folder.file(at: path)
        else {
            // Whatever is at its name now is not ours.
            return index.drop(stream)
        }
        guard (try? PlatformCalls.tryLock(file.descriptor, path)) == true else { return }
        if BaseMemory.isExpired(status) {
            _ = index.remove { $0.stream == stream.id }
        } else {
            index.give(status.size, to: stream)
        }
    }

    /// Whether a file is there that may be the object; only its digest tells.
    func isThere(_ object: BaseIndex.Object) -> Bool {
        guard let status = try? folder.status(of: path(of: object)) else { return false }
        return status.kind == .file && status.size == object.size
    }

    /// The index without an object of which nothing is left to use, and its folder without the file if that is ours.
    mutating func drop(_ object: BaseIndex.Object) {
        if remove(object) { index.drop(object) }
    }

    /// Removes the files that no entry needs; those that somebody reads go the next time.
    mutating func removeUnused() {
        for object in index.unused where remove(object) { index.drop(object) }
        for stream in index.unusedStreams where remove(stream) { index.drop(stream) }
    }

    /// - Returns: Whether nothing of ours is there any more.
    private func remove(_ object: BaseIndex.Object) -> Bool {
        let path = path(of: object)
        guard let status = try? folder.status(of: path) else { return true }
        // Something else may have come to be at its name, and is not ours to remove.
        guard status.kind == .file, status.owner == PlatformCalls.effectiveUser, let file = try? folder.file(at: path),
            status.inode == object.inode
                || status.size == object.size && (try? FileDigest.sha256(of: file)) == object.sha256
        else { return true }
        guard (try? PlatformCalls.tryLock(file.descriptor, path)) == true else { return false }
        return (try? folder.removeFile(path)) != nil
    }

    /// - Returns: Whether nothing of ours is there any more.
    private func remove(_ stream: BaseIndex.Stream) -> Bool {
        let path = path(of: stream)
        guard let status = try? folder.status(of: path), let file = try? folder.file(at: path), stream.isIn(status)
        else {
            return true
        }
        guard (try? PlatformCalls.tryLock(file.descriptor, path)) == true else { return false }
        return (try? folder.removeFile(path)) != nil
    }

    /// For the one who has the stream locked.
    ///
    /// - Returns: Whether nothing of ours is there any more.
    func removeLocked(_ stream: BaseIndex.Stream) -> Bool {
        let path = path(of: stream)
        guard let status = try? folder.status(of: path), stream.isIn(status) else { return true }
        return (try? folder.removeFile(path)) != nil
    }

    /// Writes the index, whole and durable.
    func save() throws(BaseMemoryError) {
        try BaseMemoryError.wrapping { () throws(FileError) in
            let target = folder.path.appending(BaseMemory.indexFile)
            guard let bytes = index.encoded else { throw FileError(.write, target, .invalidArgument) }
            let place = try TemporaryFolder(in: folder.path)
            let path = place.path.appending("index")
            let file = try OpenFile.creating(path)
            try file.write(bytes)
            try file.sync()
            try folder.rename(path, to: target)
            try folder.sync(folder.path)
            index.isWritten(as: bytes)
        }
    }

    /// Once nothing is remembered, what this memory is made of goes too; the folder itself stays.
    func removeIfEmpty() {
        guard index.isEmpty else { return }
        try? folder.removeFile(folder.path.appending(BaseMemory.indexFile))
        try? folder.removeEmptyFolder(at: objectFolder)
    }
}

extension BaseIndex.Stream {
    /// Whether a file is the one that was put there. It grows: its size says nothing.
    func isIn(_ status: FileStatus) -> Bool {
        status.kind == .file && status.owner == PlatformCalls.effectiveUser && status.inode == inode
    }
}

extension BaseMemory {
    /// How long a shipment that broke off is gone on with, after it was worked on last.
    package static let unfinishedLife = Duration.seconds(24 * 60 * 60)

    /// By the clock on the wall: what it says was written later than now may be of any age.
    static func isExpired(_ stream: FileStatus) -> Bool {
        let age = Duration.seconds(Date().timeIntervalSince1970) - stream.modified
        // File systems may round a time up, by 2 s at most (FAT).
        return age < .seconds(-2) || age > unfinishedLife
    }
}
