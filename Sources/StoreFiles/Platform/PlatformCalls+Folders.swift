import CLibrary
import CPlatform
package import SystemPackage

/// Calls for names in open folders, whatever becomes of the folder's own name.
extension PlatformCalls {
    /// renameat2(2) with `RENAME_NOREPLACE`, or its like elsewhere: rename(2) would replace an empty folder. Without that call, mkdir(2)
    /// claims the name first, as it never replaces anything.
    ///
    /// - Throws: `.fileExists` or `.directoryNotEmpty` if something has the name.
    package static func renameFolder(_ source: FilePath, toFree target: FilePath) throws(FileError) {
        if try renames(source, toFree: target) { return }
        do throws(FileError) {
            try makeFolder(target)
        } catch {
            throw FileError(.rename, source, error.errno)
        }
        do throws(FileError) {
            try rename(source, to: target)
        } catch {
            try? removeEmptyFolder(target)
            throw error
        }
    }

    /// Gives a file a name that nothing has: by link(2), which replaces nothing, as rename(2) does; where the file system has no hard
    /// links, as FAT and many network ones have none, by renameat2(2) with `RENAME_NOREPLACE`. Without that call, an empty file
    /// claims the name, and is replaced only as long as it is empty, and has the name. Nothing can make the look and the rename one step
    /// there: who renames a file of its own over the claim between them, in a place that was free, loses it.
    ///
    /// - Parameter source: It may keep its name.
    /// - Throws: `.fileExists` if something has the name.
    package static func place(_ source: FilePath, atFree target: FilePath) throws(FileError) {
        let isLinked = try FileError.isDone(unless: Errno.ofNoHardLinks) { () throws(FileError) in
            try hardLink(source, as: target)
        }
        if isLinked { return }
        if try renames(source, toFree: target) { return }
        let claim = try OpenFile.creating(target)
        func isOurs() throws(FileError) -> Bool {
            let (mine, there) = (try claim.status, try status(of: target))
            return mine.identity == there.identity && there.size == 0
        }
        do throws(FileError) {
            guard try isOurs() else { throw FileError(.rename, target, .fileExists) }
            try rename(source, to: target)
        } catch {
            if (try? isOurs()) == true { try? removeFile(target) }
            throw error
        }
    }

    /// - Returns: `false` where there is no such call.
    private static func renames(_ source: FilePath, toFree target: FilePath) throws(FileError) -> Bool {
        try FileError.isDone(unless: [.noFunction, .invalidArgument, .notSupported, .notPermitted]) {
            () throws(FileError) in
            try check(.rename, source) { _, source in
                target.withPlatformString { ship_store_rename_to_free_name(source, $0) }
            }
        }
    }

    /// openat(2) with `O_NOFOLLOW`.
    static func open(
        _ entry: FolderEntry, _ mode: FileDescriptor.AccessMode, _ options: FileDescriptor.OpenOptions
    ) throws(FileError) -> FileDescriptor {
        let flags = mode.rawValue | options.rawValue | O_CLOEXEC | O_NOFOLLOW
        let raw = openat(entry.folder.rawValue, entry.name, flags, FilePermissions.ownerReadWrite.rawValue)
        guard raw >= 0 else { throw FileError(.open, entry.path, .last) }
        return FileDescriptor(rawValue: raw)
    }

    private static let closeOnExec = FileDescriptor.OpenOptions.closeOnExec.rawValue

    /// ioctl(2) `FICLONE`, or fclonefileat(2): a file of the same blocks as `source`.
    ///
    /// - Returns: Whether it was made: not every file system does that.
    static func clone(_ source: FileDescriptor, as place: some FilePlace) -> Bool {
        place.named { ship_store_clone(source.rawValue, $0, $1) == 0 }
    }

    /// fcntl(2) `F_SETLEASE`: whether nobody else has the file of a descriptor open, or mapped.
    ///
    /// - Returns: `false` also where the system does not tell.
    static func isOpenOnce(_ descriptor: FileDescriptor) -> Bool { ship_store_is_open_once(descriptor.rawValue) != 0 }

    /// fchmod(2).
    package static func changeMode(
        of descriptor: FileDescriptor, _ path: FilePath, to mode: FilePermissions
    ) throws(FileError) {
        guard fchmod(descriptor.rawValue, mode.rawValue) == 0 else { throw FileError(.changeMode, path, .last) }
    }

    /// futimens(2): sets when the content changed last, since 1970.
    static func setModified(of descriptor: FileDescriptor, _ path: FilePath, to time: Duration) throws(FileError) {
        let (seconds, attoseconds) = time.components
        let time = timespec(tv_sec: time_t(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        guard futimens(descriptor.rawValue, [time, time]) == 0 else { throw FileError(.changeTime, path, .last) }
    }

    /// fstatvfs(3).
    ///
    /// - Returns: Bytes that this process may still write to the file system of what is open.
    static func freeSpace(around descriptor: FileDescriptor, _ path: FilePath) throws(FileError) -> Int64 {
        var raw = statvfs()
        guard fstatvfs(descriptor.rawValue, &raw) == 0 else { throw FileError(.measureSpace, path, .last) }
        return raw.bytes(in: raw.f_bavail)
    }

    /// open(2) with `O_DIRECTORY`.
    static func openFolder(_ path: FilePath) throws(FileError) -> FileDescriptor {
        do {
            return try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        } catch {
            throw FileError(.listFolder, path, Errno(of: error) ?? .ioError)
        }
    }

    /// readdir(3): the names in an open folder, in no order, without `.` and `..`. Takes the descriptor over.
    static func names(in folder: FileDescriptor, _ path: FilePath) throws(FileError) -> [FilePath.Component] {
        guard let stream = fdopendir(folder.rawValue) else {
            let error = FileError(.listFolder, path, .last)
            try? folder.close()
            throw error
        }
        defer { closedir(stream) }
        // An entry ends where its name does, and may be the last in its buffer: do not read all of a `dirent`.
        guard let start = MemoryLayout<dirent>.offset(of: \.d_name) else { return [] }
        var names: [FilePath.Component] = []
        while true {
            // At the end it says nothing, as it does where it fails: only errno tells.
            Errno.last = Errno(rawValue: 0)
            guard let entry = readdir(stream) else {
                guard Errno.last.rawValue == 0 else { throw FileError(.listFolder, path, .last) }
                break
            }
            // The name ends in a NUL [readdir(3)].
            let name = UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CInterop.PlatformChar.self)
            if let name = FilePath.Component(platformString: name), name.kind == .regular { names.append(name) }
        }
        return names
    }

    /// The name by which Linux shows an open descriptor, whatever becomes of the file's other names.
    ///
    /// - Returns: `nil` on a platform without such names.
    static func pathByDescriptor(_ descriptor: FileDescriptor) -> FilePath? {
        let path = FilePath("/proc/self/fd").appending("\(descriptor.rawValue)")
        guard let there = try? statusFollowingLinks(of: path), let meant = try? status(of: descriptor, path),
            there.identity == meant.identity
        else { return nil }
        return path
    }
}

extension FilePath {
    /// Resolves a name by a descriptor, which is valid only while the descriptor is open, and only in this process.
    var nameForOthers: FilePath {
        // Most paths are others, and most errors are expected: it takes no `FilePath` apart for them.
        let folder = "/proc/self/fd/"
        guard withPlatformString({ strncmp($0, folder, folder.utf8.count) == 0 }) else { return self }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let link = FilePath(root: root, components.prefix(4))
        let count = link.withPlatformString { readlink($0, &buffer, buffer.count - 1) }
        guard count > 0 else { return self }
        return FilePath(platformString: buffer).appending(components.dropFirst(4))
    }
}
