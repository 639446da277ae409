import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// The lock on the file of a store that keeps all other connections out, taken in one step or not at all: who waits for it holds
/// nothing meanwhile that others need to go on.
///
/// `BEGIN EXCLUSIVE` cannot do that. In exclusive locking mode it keeps its shared lock while it waits for the reserved one, and who has
/// that one needs all shared locks gone to commit; in normal mode it waits with the reserved lock until readers have ended, and a reader
/// that goes on to write meanwhile is refused at once [sqlite.org/lockingv3.html section 3; pager.c, sqlite3PagerBegin].
struct DatabaseFileLock {
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods

    /// - Parameter connection: Open, and in no transaction. Its own locks go on from this one.
    init(of connection: OpaquePointer?) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        guard code == SQLITE_OK, let file, let methods = file.pointee.pMethods?.pointee else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code == SQLITE_OK ? SQLITE_MISUSE : code))
        }
        self.file = file
        self.methods = methods
    }

    /// Takes the lock if it is free, and otherwise leaves everything as it was: for some microseconds the store has one reader more.
    ///
    /// - Parameter besideReaders: Whether to take it also where others read the store, or have it open in WAL mode: newer ones
    ///   are kept out, while those go on.
    /// - Returns: Whether it is taken. No other connection is in the middle of writing to the store then, or about to, and none
    ///   reads it, unless `besideReaders`.
    func attempt(besideReaders: Bool = false) throws -> Bool {
        // This look locks nothing: a connection in the middle of a transaction never notices.
        guard try !isReserved, try lock(SQLITE_LOCK_SHARED) else { return false }
        do {
            // From the shared lock alone, later versions do not go on to the pending one. Where readers are waited for, that has to do:
            // one that goes on to write would be refused at once.
            guard try !besideReaders || lock(SQLITE_LOCK_RESERVED) else {
                release()
                return false
            }
            if try lock(SQLITE_LOCK_EXCLUSIVE) { return true }
        } catch {
            release()
            throw error
        }
        // An attempt that failed has left the pending lock [os_unix.c, unixLock].
        if !besideReaders { release() }
        return besideReaders
    }

    func release() { _ = methods.xUnlock?(file, SQLITE_LOCK_NONE) }

    /// Whether the path of the file leads to another one by now, or to none [sqlite.org/c3ref/c_fcntl_begin_atomic_write.html].
    var hasMoved: Bool {
        var moved: CInt = 0
        return methods.xFileControl?(file, SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved != 0
    }

    /// Whether the file begins as a store does, or has no bytes; to be asked while the lock is held. SQLite goes on to the log of
    /// one that does not, and removes that in the end.
    func beginsAsStore() throws -> Bool {
        var size: sqlite3_int64 = 0
        var code = methods.xFileSize?(file, &size) ?? SQLITE_MISUSE
        var bytes = [UInt8](repeating: 0, count: Int(min(size, sqlite3_int64(DatabaseHeader.size))))
        if code == SQLITE_OK, !bytes.isEmpty {
            code = methods.xRead?(file, &bytes, CInt(bytes.count), 0) ?? SQLITE_MISUSE
        }
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        return bytes.isEmpty || (try? DatabaseHeader(decoding: bytes)) != nil
    }

    private var isReserved: Bool {
        get throws {
            var answer: CInt = 0
            let code = methods.xCheckReservedLock?(file, &answer) ?? SQLITE_MISUSE
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            return answer != 0
        }
    }

    private func lock(_ level: CInt) throws -> Bool {
        let code = methods.xLock?(file, level) ?? SQLITE_MISUSE
        if code == SQLITE_OK { return true }
        guard code & 0xff == SQLITE_BUSY else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        return false
    }

    /// Whether a writer was killed in the middle of a transaction: the journal that it left has to be played back first. To be
    /// asked while the lock is held: then the journal is no living connection's.
    ///
    /// Source: sqlite.org/lockingv3.html section 4.1. Journals that were committed and stay, as in the modes TRUNCATE and PERSIST, have no header.
    static func hasHotJournal(_ store: FilePath) -> Bool {
        let journal = FilePath(text: store.text + "-journal")
        guard (try? PlatformCalls.isThere(journal)) ?? true else { return false }
        guard let first = try? OpenFile.reading(journal).read(1, at: 0) else { return true }
        return first.first.map { $0 != 0 } ?? false
    }
}
