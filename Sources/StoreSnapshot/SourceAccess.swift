import StoreFiles
import StoreFormat
import SystemPackage

/// How the source store is to be opened so that nothing about it changes.
enum SourceAccess: Hashable, Sendable {
    /// As any other reader, with SQLite's locks.
    case locking
    /// Without locks and without looking for a log, `immutable=1`; valid only if the file is as it was in the end.
    ///
    /// A store in WAL mode cannot be opened otherwise where its index cannot be made. There is no log with anything in
    /// it, so the file holds all the data; and whoever has more rights than we do and writes to it meanwhile first makes
    /// a log, and changes the file's time when the log is moved into it: `isStillValid` sees both.
    case immutable(FileStatus)

    /// - Throws: `.notADatabase`, `.truncated`, `.noPermission`, `.writeAheadLogOnReadOnlyMedium`.
    init(to store: FilePath, sidecars: Sidecars) throws(SnapshotError) {
        let header = try StoreHandle(store, for: .reading).header()
        guard header?.journalMode == .writeAheadLog, !sidecars.hasLog || !sidecars.hasIndex else {
            self = .locking
            return
        }
        let folderIsWritable = PlatformCalls.canWrite(store.removingLastComponent())
        if sidecars.logHasFrames {
            guard folderIsWritable || sidecars.hasIndex else { throw .writeAheadLogOnReadOnlyMedium(store) }
            self = .locking
        } else if folderIsWritable && PlatformCalls.canWrite(store) {
            self = .locking
        } else {
            do throws(FileError) {
                self = .immutable(try PlatformCalls.status(of: store))
            } catch {
                throw .file(error)
            }
        }
    }

    /// The path, or a URI, that makes SQLite open the store in this way.
    func address(of store: FilePath) -> String {
        switch self {
        case .locking: store.string
        case .immutable: DatabaseURI.immutable(store)
        }
    }

    /// Whether what has been read is one state of the store.
    func isStillValid(for store: FilePath) -> Bool {
        switch self {
        case .locking: true
        case .immutable(let before):
            (try? PlatformCalls.status(of: store)) == before && !Sidecars(beside: store).logHasFrames
        }
    }
}
