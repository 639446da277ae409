public import ShipProtocol
public import SystemPackage

/// A store that is a file of its own, in no inbox.
public struct StoreFile: Hashable, Sendable {
    public let path: FilePath
    /// Under which it is asked for.
    public let name: StoreName
    /// How long a read of a live file waits for a writer; `nil` for a settled file.
    let busyTimeout: Duration?

    var isSettled: Bool { busyTimeout == nil }

    /// A copy that never changes: it is opened without locks. A newer one may be renamed over it.
    ///
    /// - Parameters:
    ///   - path: Of the file, in rollback mode and with nothing of SQLite's beside it.
    ///   - name: What the file's name suggests, unless said otherwise.
    public static func settled(_ path: FilePath, name: StoreName? = nil) -> StoreFile {
        StoreFile(path, name, busyTimeout: nil)
    }

    /// A store that an app writes to: it is opened with SQLite's locks, and read as last committed.
    ///
    /// - Parameters:
    ///   - path: Of the store.
    ///   - name: What the file's name suggests, unless said otherwise.
    ///   - busyTimeout: How long a read waits for a writer that keeps all others out.
    public static func live(
        _ path: FilePath, name: StoreName? = nil, busyTimeout: Duration = .seconds(10)
    ) -> StoreFile {
        StoreFile(path, name, busyTimeout: busyTimeout)
    }

    private init(_ path: FilePath, _ name: StoreName?, busyTimeout: Duration?) {
        self.path = path
        self.name = name ?? StoreName(suggestedBy: path.lastName)
        self.busyTimeout = busyTimeout
    }
}
