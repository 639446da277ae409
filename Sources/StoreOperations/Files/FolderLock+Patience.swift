package import StoreFiles
package import SystemPackage

extension FolderLock {
    /// Between two looks.
    private static let pause = Duration.milliseconds(10)

    /// Takes the lock of a folder, and waits for it as long as the patience lasts: flock(2) itself cannot be told to stop.
    ///
    /// - Throws: `.folderBusy`, `.stopped`, `.file`.
    package static func take(
        _ kind: Kind, on folder: FilePath, _ patience: Patience
    ) throws(OperationError) -> FolderLock {
        let end = ContinuousClock.now + patience.busyTimeout
        while true {
            let lock = try OperationError.wrapping { () throws(FileError) in try take(kind, on: folder) }
            if let lock { return lock }
            try patience.check()
            guard ContinuousClock.now < end else { throw .folderBusy(folder, waited: patience.busyTimeout) }
            PlatformCalls.pause(Self.pause)
        }
    }

    /// Does something while the folder is locked, as soon as it can be.
    ///
    /// - Throws: `.folderBusy`, `.stopped`, `.file`; what `body` throws.
    static func holding<Result>(
        _ kind: Kind, on folder: FilePath, _ patience: Patience, _ body: () throws(OperationError) -> Result
    ) throws(OperationError) -> Result {
        let lock = try take(kind, on: folder, patience)
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }
}
