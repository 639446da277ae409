import GRDB
import GRDBSQLite
import StoreFiles
import StoreFormat
import SystemPackage

/// The lock on the file of a store that keeps everybody out, taken in one step or not at all: whoever waits for it holds
/// nothing meanwhile that others need to go on.
///
/// `BEGIN EXCLUSIVE` has no such step. In exclusive locking mode it keeps its shared lock while it waits for the reserved
/// one, and who has that one needs all shared locks gone to commit; in normal mode it waits with the reserved lock until
/// readers have ended, and a reader that goes on to write meanwhile is refused at once
/// [sqlite.org/lockingv3.html section 3; pager.c, sqlite3PagerBegin].
struct StoreLock {
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

    /// How far an attempt came.
    enum Outcome {
        /// Nobody else reads or writes the store, and nobody will.
        case taken
        /// Somebody reads it, or has it open in WAL mode; nobody is in the middle of writing to it in another mode.
        case hasReaders
        /// Somebody writes to it, or is about to.
        case hasWriter
    }

    /// Takes the lock if it is free, and otherwise leaves everything as it was: for some microseconds the store has one
    /// reader more.
    func attempt() throws -> Outcome {
        try attempt(againstReaders: false)
    }

    /// The same; but where there are readers it keeps newer ones out, while those go on.
    func attemptBesideReaders() throws -> Outcome {
        try attempt(againstReaders: true)
    }

    private func attempt(againstReaders: Bool) throws -> Outcome {
        // A look that locks nothing: who is in the middle of a transaction never notices.
        guard try !isReserved, try lock(SQLITE_LOCK_SHARED) else { return .hasWriter }
        do {
            if try lock(SQLITE_LOCK_EXCLUSIVE) { return .taken }
        } catch {
            release()
            throw error
        }
        // An attempt that failed has left the pending lock [os_unix.c, unixLock].
        if !againstReaders { release() }
        return .hasReaders
    }

    func release() { _ = methods.xUnlock?(file, SQLITE_LOCK_NONE) }

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

    /// Whether a writer was killed in the middle of a transaction: the journal that it left has to be played back first.
    /// To be asked while the lock is held; then it belongs to nobody.
    ///
    /// Source: sqlite.org/lockingv3.html section 4.1. Journals that were committed and stay, as in the modes TRUNCATE and PERSIST, have no header.
    static func hasHotJournal(_ store: FilePath) -> Bool {
        let journal = FilePath(store.string + "-journal")
        guard (try? PlatformCalls.status(of: journal)) != nil else { return false }
        guard let first = try? OpenFile.reading(journal).read(1, at: 0) else { return true }
        return first.first.map { $0 != 0 } ?? false
    }
}
