import ShipProtocol
package import StoreFiles
package import SystemPackage

/// The files of a store: itself, what SQLite keeps beside it, and the folder of its external files.
package struct StoreHome: Hashable, Sendable {
    package let path: FilePath

    package init(_ path: FilePath) { self.path = path }

    /// The store behind a path that a user gave: SQLite's sidecars and Core Data's external files are beside the file
    /// itself, not beside a symbolic link to it.
    ///
    /// - Throws: `.noSuchStore`, `.folder`, `.notADatabase` for what else is no regular file, `.noPermission`.
    package init(resolving path: FilePath) throws(OperationError) {
        let status: FileStatus
        do throws(FileError) {
            self.path = try PlatformCalls.realPath(of: path)
            status = try PlatformCalls.status(of: self.path)
        } catch {
            switch error.errno {
            case .noSuchFileOrDirectory, .notDirectory: throw .noSuchStore(path)
            case .permissionDenied: throw .noPermission(path)
            default: throw .file(error)
            }
        }
        guard status.kind == .file else { throw status.kind == .folder ? .folder(path) : .notADatabase(path) }
    }

    package var folder: FilePath { Folder.parent(of: path) }

    /// Of the store's file. Where that is lost, those of what SQLite has left beside it, which has the same owner and mode
    /// [os_unix.c, findCreateFileMode]; else what the folder tells.
    package var attributes: FileAttributes {
        get throws(FileError) {
            for path in [path] + sidecars where try PlatformCalls.statusIfThere(of: path)?.kind == .file {
                return try FileAttributes(of: path)
            }
            return try FileAttributes.ofFile(in: folder)
        }
    }

    /// Whether what is beside the store may have been put there for it: by this user, or by root for the user of the store.
    func trusts(_ status: FileStatus) -> Bool {
        status.owner == PlatformCalls.effectiveUser || status.owner == (try? attributes)?.owner
    }

    package var journal: FilePath { FilePath(text: path.text + "-journal") }
    package var log: FilePath { FilePath(text: path.text + "-wal") }
    package var logIndex: FilePath { FilePath(text: path.text + "-shm") }
    package var sidecars: [FilePath] { [journal, log, logIndex] }
    static let sidecarEndings = ["-journal", "-wal", indexEnding]
    private static let indexEnding = "-shm"

    /// Refuses a store whose file has the name of a sidecar of this store, and this one if its own has that of another file's: SQLite would
    /// overwrite or remove it, as a log or a journal that is of no use, or it is one. And a journal or a log that is no file: SQLite would wait
    /// for the other end of a pipe, and follows no symbolic link there.
    ///
    /// - Throws: `.storeIsSidecar`, `.file`.
    func refuseStrangeSidecars() throws(OperationError) {
        for ending in Self.sidecarEndings where path.lastName.hasSuffix(ending) {
            let store = FilePath(text: String(path.text.dropLast(ending.count)))
            guard (try? PlatformCalls.status(of: store))?.kind != .file else { throw .storeIsSidecar(path, of: store) }
        }
        for sidecar in [journal, log] where (try? PlatformCalls.status(of: sidecar))?.kind ?? .file != .file {
            throw .file(FileError(.open, sidecar, .invalidArgument))
        }
        for sidecar in sidecars {
            let isStore = try OperationError.wrapping { () throws(FileError) in try Self.beginsAsStore(sidecar) }
            if isStore { throw .storeIsSidecar(sidecar, of: path) }
        }
    }

    /// Refuses a store of 0 bytes that has a log: SQLite takes it for an empty one, and removes its log, which may have all that is left.
    ///
    /// - Throws: `.corrupt`, `.file`.
    package func refuseLogOfNothing() throws(OperationError) {
        let sizes = try OperationError.wrapping { () throws(FileError) in
            (own: try PlatformCalls.statusIfThere(of: path)?.size, log: try PlatformCalls.statusIfThere(of: log)?.size)
        }
        if sizes.own == 0, sizes.log ?? 0 > 0 {
            throw .corrupt(path, complaint: "it has no bytes, and a -wal beside it")
        }
    }

    /// Whether a file begins as a database does [sqlite.org/fileformat2.html section 1.3.1].
    static func beginsAsStore(_ path: FilePath) throws(FileError) -> Bool {
        guard let status = try PlatformCalls.statusIfThere(of: path), status.kind == .file else { return false }
        // Closing another descriptor would drop the locks that connections of this process hold on the index of their log
        // [fcntl_locking(2)]; and what SQLite has open under that name is one.
        if path.text.hasSuffix(indexEnding), PlatformCalls.hasOpen(status.identity) { return false }
        let bytes = try FileError.unless(FileError.absence + [.permissionDenied]) { () throws(FileError) in
            try OpenFile.readingWithoutFollowing(path).read(16, at: 0)
        }
        return bytes == Array("SQLite format 3\0".utf8)
    }

    /// Makes what is here durable, whoever has made it: a process may have been killed between a change and its sync. That is the last
    /// commit, in the log, or by the removal of the journal, which SQLite does not sync [sqlite.org/pragma.html#pragma_synchronous];
    /// and the names of the store and of its external files.
    package func makeDurable() throws(FileError) {
        if try PlatformCalls.isThere(log) { try OpenFile.readingWithoutFollowing(log).sync() }
        try supportFolder.sync()
        try Folder.syncIfReadable(folder)
    }

    /// The store's name, beside so many other bytes of a longer one; its hash where that would be too long for a file system.
    func name(leaving bytes: Int) -> String {
        let name = FilePath(text: path.lastName).bytes
        return name.count + bytes <= Self.longestName ? path.lastName : ContentDigest(hashing: name).hex
    }

    /// Bytes [limits.h, NAME_MAX].
    private static let longestName = 255

    /// `.<name without extension>_SUPPORT`.
    package var supportFolder: SupportFolder {
        SupportFolder(path: folder.appending(text: ExternalFileName.supportFolder(ofStem: path.stemText)))
    }
}

extension StoreHome {
    /// The store behind a path that a user gave, or the place for one where nothing is.
    ///
    /// - Throws: `.noSuchStore` if there is no folder for it either, or a symbolic link that leads nowhere; what
    ///   `init(resolving:)` throws.
    package init(placing path: FilePath) throws(OperationError) {
        do throws(OperationError) {
            self = try StoreHome(resolving: path)
        } catch {
            guard case .noSuchStore = error, let name = path.lastComponent, name.kind == .regular,
                (try? PlatformCalls.status(of: path)) == nil
            else { throw error }
            guard let folder = try? PlatformCalls.realPath(of: Folder.parent(of: path)) else { throw error }
            self.init(folder.appending(name))
        }
    }
}

extension StoreHome {
    /// - Throws: `.kept` if only an inbox, or the commands for kept copies, may change the file.
    package func refuseIfKept(_ purpose: KeptPlace.Purpose) throws(OperationError) {
        if let place = KeptPlace(of: self) { throw .kept(path, place, purpose) }
    }
}
