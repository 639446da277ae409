import StoreFiles
import SystemPackage

/// A folder that only its owner can read (0700), with files that only the owner can read (0600). If other users could read or write one,
/// it is refused and not repaired: its content may be known to them, or be theirs.
struct PrivateFolder: Sendable {
    let path: FilePath

    /// Largest file that is read, in bytes.
    static let sizeLimit: Int64 = 1024 * 1024
    /// The file that the holder of the lock is writing.
    private static let temporaryName = ".new"
    /// How long to wait for other processes that hold the lock, each for as long as writing a file takes: two syncs, of seconds each where
    /// the disk is slow.
    private static let lockTime = Duration.seconds(30)

    /// Makes it if it is not there, so that it survives a power cut unless it need not.
    func make(durably: Bool = true) throws(IdentityError) {
        try IdentityError.wrapping { () throws(FileError) in try Folder.make(path, durably: durably) }
        _ = try open()
    }

    /// Makes what is in it durable: a process may have been killed between a change and its sync.
    func sync() throws(IdentityError) {
        do throws(FileError) {
            try Folder.sync(path)
        } catch {
            // On a medium that nobody writes to there is nothing to sync [fsync(2)].
            guard [.noSuchFileOrDirectory, .invalidArgument, .readOnlyFileSystem].contains(error.errno) else {
                throw .file(error)
            }
        }
    }

    /// - Returns: The content of a file; `nil` if the file or the folder does not exist.
    func read(_ name: FilePath.Component) throws(IdentityError) -> [UInt8]? { try read(name, attempts: 10) }

    private func read(_ name: FilePath.Component, attempts: Int) throws(IdentityError) -> [UInt8]? {
        do throws(IdentityError) {
            let folder = try open()
            let file = try IdentityError.wrapping { () throws(FileError) in try folder.file(name) }
            let status = try IdentityError.wrapping { () throws(FileError) in try file.status }
            // It was replaced after it had been opened.
            if status.links == 0, attempts > 1 { return try read(name, attempts: attempts - 1) }
            guard status.kind == .file, status.links == 1 else { throw .notPlain(file.path) }
            try checkIsPrivate(status, file.path)
            guard status.size <= Self.sizeLimit else { throw .damaged(file.path, flaw: "it is too large") }
            return try IdentityError.wrapping { () throws(FileError) in try file.read(Int(status.size), at: 0) }
        } catch .file(let error) where error.errno == .noSuchFileOrDirectory {
            return nil
        } catch .file(let error) where error.errno == .tooManySymbolicLinkLevels {
            throw .notPlain(error.path)
        }
    }

    /// - Returns: `nil` if the file or the folder does not exist.
    func status(of name: FilePath.Component) throws(IdentityError) -> FileStatus? {
        try IdentityError.wrapping { () throws(FileError) in
            try PlatformCalls.statusIfThere(of: path.appending(name))
        }
    }

    /// Writes or replaces a file in one step, durably. Called with the lock.
    func write(_ bytes: [UInt8], as name: FilePath.Component) throws(IdentityError) {
        let temporary = path.appending(Self.temporaryName)
        try IdentityError.wrapping { () throws(FileError) in
            do throws(FileError) {
                try OpenFile.write(bytes, to: temporary)
                try PlatformCalls.rename(temporary, to: path.appending(name))
            } catch {
                // It may be the beginning of a secret.
                try? PlatformCalls.removeFile(temporary)
                throw error
            }
            try Folder.sync(path)
        }
    }

    /// Runs `body` while no other process, and no other task of this one, does the same. It makes the folder if it is not there.
    ///
    /// - Parameter mayGoOn: Whether to wait on for the lock.
    /// - Throws: `.busy`, `.stopped`, and what `body` throws.
    func whileLocked<Result>(
        waitingWhile mayGoOn: () -> Bool = { !Task.isCancelled }, _ body: () throws(IdentityError) -> Result
    ) throws(IdentityError) -> Result {
        try make()
        let deadline = ContinuousClock.now + Self.lockTime
        while true {
            let lock = try IdentityError.wrapping { () throws(FileError) in try FolderLock.take(.exclusive, on: path) }
            if let lock {
                defer { withExtendedLifetime(lock) {} }
                // A killed process may have left it.
                try? PlatformCalls.removeFile(path.appending(Self.temporaryName))
                return try body()
            }
            guard .now < deadline else { throw .busy(path) }
            guard mayGoOn() else { throw .stopped }
            PlatformCalls.pause(.milliseconds(10))
        }
    }

    private func open() throws(IdentityError) -> OpenFolder {
        let folder = try openUnchecked()
        try checkIsPrivate(try IdentityError.wrapping { () throws(FileError) in try folder.status }, path)
        return folder
    }

    private func openUnchecked() throws(IdentityError) -> OpenFolder {
        do throws(FileError) {
            return try OpenFolder(path)
        } catch {
            if error.errno == .notDirectory || error.errno == .tooManySymbolicLinkLevels { throw .notPlain(path) }
            throw .file(error)
        }
    }

    private func checkIsPrivate(_ status: FileStatus, _ path: FilePath) throws(IdentityError) {
        switch status.exposure {
        case nil: return
        case .ofOtherUser(let user): throw .otherOwner(path, user: user)
        case .toOthers(let permissions): throw .exposed(path, permissions)
        }
    }
}
