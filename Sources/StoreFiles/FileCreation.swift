import Synchronization
public import SystemPackage

/// What an app has done to each file and folder that is made: to keep them from being read while the device is locked, or from
/// being backed up.
///
///     FileCreation.prepare { path, item in
///         var url = URL(filePath: path.string)
///         var values = URLResourceValues()
///         values.isExcludedFromBackup = true
///         try url.setResourceValues(values)
///         try FileManager.default.setAttributes(
///             [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication], ofItemAtPath: path.string)
///     }
///
/// `completeUntilFirstUserAuthentication` is what lets a shipment come in while the device is locked. With `complete` a store cannot
/// be opened then, and reads fail with SQLite's own error.
///
/// There is one policy for all of a process, and no option of a producer, a consumer or a device: an app has one; what is made in a
/// temporary folder is renamed into an inbox or a memory, so that all of it needs the same; and an option that one call forgot to
/// hand on would leave a file unprotected that nobody looks at. Who needs to tell places apart has the path.
///
/// - It is called once for each file and folder, after it has been made and before anything is in it. What is renamed, or gets a
///   second name, keeps what it was given.
/// - It is not called for symbolic links, nor for what SQLite makes for itself beside a store of the app's own that is open (`-wal`,
///   `-shm`, `-journal`) and for temporary files that never have a name: these are as the app has its folders and SQLite.
/// - These lines were not compiled on Apple's systems: `Packaging/APPLE.md` says what of them was read.
public enum FileCreation {
    public enum Item: Hashable, Sendable { case file, folder }

    /// - Parameters:
    ///   - path: As the app has named the folder that it is in.
    ///   - item: What was made.
    /// - Throws: Then it is removed again, and the work that needs it fails with a `FileError` of the operation `setAttributes`,
    ///   which has the number of an `Errno` or a `POSIXError`, and else that of `EPERM`.
    public typealias Preparation = @Sendable (_ path: FilePath, _ item: Item) throws -> Void

    private static let preparation = Mutex<Preparation?>(nil)

    /// Sets what is done from here on, in this process, in place of what was set before. To be called before anything else of this
    /// library.
    ///
    /// - Parameter preparation: May be called on any thread, on several at once; it must use nothing of this library. `nil` for
    ///   nothing.
    public static func prepare(with preparation: Preparation?) {
        Self.preparation.withLock { $0 = preparation }
    }

    /// To be called for whatever has just been made.
    ///
    /// - Parameter remove: Undoes the making.
    package static func made(_ item: Item, _ path: FilePath, remove: () throws(FileError) -> Void) throws(FileError) {
        guard let preparation = preparation.withLock({ $0 }) else { return }
        let path = nameForOthers(path)
        do {
            try preparation(path, item)
        } catch {
            try? remove()
            throw FileError(.setAttributes, path, Errno(of: error) ?? .notPermitted)
        }
    }

    /// A name by a descriptor is good as long as that is open: what is told has its own.
    private static func nameForOthers(_ path: FilePath) -> FilePath {
        guard path.starts(with: "/proc/self/fd") else { return path }
        return (try? PlatformCalls.realPath(of: path)) ?? path
    }
}
