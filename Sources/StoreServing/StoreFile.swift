public import ShipProtocol
import StoreInbox
public import SystemPackage

/// A store that is a file of its own, in no inbox.
public struct StoreFile: Hashable, Sendable {
    public let path: FilePath
    /// Under which it is asked for.
    public let name: StoreName
    let state: State

    enum State: Hashable, Sendable {
        case settled
        case live(busyTimeout: Duration)
    }

    /// A copy that nobody changes: it is opened without locks. A newer one may be renamed over it.
    ///
    /// - Parameters:
    ///   - path: Of the file, in rollback mode and with nothing of SQLite's beside it.
    ///   - name: What the file's name suggests, unless said otherwise.
    public static func settled(_ path: FilePath, name: StoreName? = nil) -> StoreFile {
        StoreFile(path, name, .settled)
    }

    /// A store that an app writes to: it is opened with SQLite's locks, and read as last committed.
    ///
    /// - Parameters:
    ///   - path: Of the store.
    ///   - name: What the file's name suggests, unless said otherwise.
    ///   - busyTimeout: How long a read waits for a writer that keeps everybody out.
    public static func live(
        _ path: FilePath, name: StoreName? = nil, busyTimeout: Duration = .seconds(10)
    ) -> StoreFile {
        StoreFile(path, name, .live(busyTimeout: busyTimeout))
    }

    private init(_ path: FilePath, _ name: StoreName?, _ state: State) {
        self.path = path
        self.name = name ?? StoreName(suggestedBy: path.lastComponent?.string ?? "")
        self.state = state
    }
}

/// Where a coordinator's store is.
package enum StorePlace: Sendable {
    /// A file of its own, which may be live.
    case file(FilePath)
    /// The generation that was current; it stays for as long as this value lives.
    case generation(Pin)

    package var path: FilePath {
        switch self {
        case .file(let path): path
        case .generation(let pin): pin.generation.storePath
        }
    }
}
