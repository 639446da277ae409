import Synchronization
public import SystemPackage

/// Lets an app prepare each file and folder that the library makes: to keep others from reading it while the device is locked, or to
/// keep it out of backups.
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
/// With `completeUntilFirstUserAuthentication` a shipment can come in while the device is locked. With `complete` no program can open a
/// store then, and reads fail with SQLite's own error.
///
/// There is one policy for a process, and no option of a producer, a consumer or a device. An app has one policy; files of a temporary
/// folder are renamed into an inbox or a memory, and need the same policy there; and if one call forgot to hand an option on, a file
/// would stay unprotected unnoticed. The path tells places apart.
///
/// - The library calls it once for each file and folder, while it is still empty, or a clone. A file keeps its attributes when it is renamed or
///   gets a second name.
/// - The library does not call it for symbolic links, for files that SQLite makes beside an open store of the app's own (`-wal`,
///   `-shm`, `-journal`), nor for temporary files without a name: they follow the app's settings of its folders and of SQLite.
/// - These lines were not compiled on Apple's systems: `Packaging/APPLE.md` says what was checked by reading.
public enum FileCreation {
    public enum Item: Hashable, Sendable { case file, folder }

    /// - Parameters:
    ///   - path: In a folder as the app has named it.
    ///   - item: What the library has made.
    /// - Throws: Then the library removes it again, and the work that needs it fails with a `FileError` of the operation
    ///   `setAttributes`, with the number of an `Errno` or a `POSIXError`, else that of `EPERM`.
    public typealias Preparation = @Sendable (_ path: FilePath, _ item: Item) throws -> Void

    private static let preparation = Mutex<Preparation?>(nil)

    /// Sets the preparation of this process, in place of an earlier one. Call it before anything else of this library.
    ///
    /// - Parameter preparation: The library may call it on several threads at once; it must not use this library. `nil` for none.
    public static func prepare(with preparation: Preparation?) {
        Self.preparation.withLock { $0 = preparation }
    }

    /// Prepares a file or folder that has just been made, or undoes the making.
    package static func made(_ item: Item, _ path: FilePath, remove: () throws(FileError) -> Void) throws(FileError) {
        guard let preparation = preparation.withLock({ $0 }) else { return }
        let path = path.nameForOthers
        do {
            try preparation(path, item)
        } catch {
            try? remove()
            throw FileError(.setAttributes, path, Errno(of: error) ?? .notPermitted)
        }
    }
}
