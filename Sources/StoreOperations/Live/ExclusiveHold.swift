import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import StoreFormat
package import SystemPackage

/// Exclusive use of a store, for as long as this value lives: the store can be copied to its last commit, and removed.
package struct ExclusiveHold: ~Copyable, Sendable {
    /// Through which the store is read meanwhile.
    package let connection: LiveConnection
    private let home: StoreHome

    /// Waits until no other connection has the store open in WAL mode, or reads or writes it in another mode.
    ///
    /// - Throws: `.inUse`, and what opening a store may throw.
    package init(on home: StoreHome, _ busyHandler: BusyHandler) throws(OperationError) {
        self.home = home
        connection = try LiveConnection(to: home.path, exclusively: true, busyHandler)
    }

    /// Moves the store out of sight, where `removal` finds it.
    ///
    /// Before that it leaves WAL mode: then the file alone holds every commit, whatever goes first, and a writer
    /// that has opened the file and waits for its lock is told so [pager.c, databaseIsUnmoved], instead of committing to a
    /// file without a name. A kill at any point leaves the store whole, or out of sight.
    ///
    /// - Parameter target: Where it has been moved to; `nil` if it has not.
    /// - Throws: `.busy`, `.file`; the store is whole unless it is gone.
    package func begin(_ removal: StoreRemoval, after target: StoreHome? = nil) throws(OperationError) {
        do throws(OperationError) {
            try connection.run { try $0.execute(sql: "PRAGMA main.journal_mode = DELETE") }
        } catch {
            // Nothing of a damaged store can be saved, and it may be removed all the same.
            guard error.isDamage else { throw error }
        }
        try OperationError.wrapping { () throws(FileError) in try removal.begin(after: target) }
    }
}

/// The file of a store that SQLite may be unable to read. No other connection is in the middle of writing to it for as long as
/// this value lives.
///
/// It is opened by SQLite all the same, and by nothing else: closing another descriptor would drop the locks that other
/// connections of this process hold on the file [sqlite.org/howtocorrupt.html section 2.2].
package struct QuietStore: ~Copyable {
    private let connection: OpaquePointer

    /// - Parameter besideReaders: Whether to wait for writers only: readers go on with the file that they have, and no others get
    ///   in. Otherwise this waits until no other connection uses the store.
    /// - Throws: `.busy`, `.inUse`, `.noPermission`, `.noSuchStore`, `.sqlite`.
    package init(_ path: FilePath, besideReaders: Bool, _ busyHandler: BusyHandler) throws(OperationError) {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX
        let code = path.withPlatformString { sqlite3_open_v2($0, &connection, flags, nil) }
        guard code == SQLITE_OK, let connection else {
            sqlite3_close_v2(connection)
            throw OperationError(DatabaseError(resultCode: ResultCode(rawValue: code)), on: path, busyHandler)
        }
        do {
            try Self.wait(besideReaders: besideReaders, on: connection, busyHandler)
            self.connection = connection
        } catch {
            sqlite3_close_v2(connection)
            let error = OperationError(error, on: path, busyHandler)
            if !besideReaders, case .busy(_, let waited) = error { throw .inUse(path, waited: waited) }
            throw error
        }
    }

    private static func wait(besideReaders: Bool, on connection: OpaquePointer, _ busyHandler: BusyHandler) throws {
        let lock = try DatabaseFileLock(of: connection)
        var tries = 0
        while true {
            if try lock.attempt(besideReaders: besideReaders) { return }
            guard busyHandler.backsOff(tries: tries) else { throw DatabaseError(resultCode: .SQLITE_BUSY) }
            tries += 1
        }
    }

    deinit { sqlite3_close_v2(connection) }
}

/// The lock on the file of a store that keeps all other connections out, taken in one step or not at all: who waits for it holds
/// nothing meanwhile that others need to go on.
///
/// `BEGIN EXCLUSIVE` cannot do that. In exclusive locking mode it keeps its shared lock while it waits for the reserved one, and
/// who has that one needs all shared locks gone to commit; in normal mode it waits with the reserved lock until readers have
/// ended, and a reader that goes on to write meanwhile is refused at once [sqlite.org/lockingv3.html section 3; pager.c,
/// sqlite3PagerBegin].
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

    /// Takes the lock if it is free, and otherwise leaves everything as it was: for some microseconds the store has one
    /// reader more.
    ///
    /// - Parameter besideReaders: Whether to take it also where others read the store, or have it open in WAL mode: newer ones
    ///   are kept out, while those go on.
    /// - Returns: Whether it is taken. No other connection is in the middle of writing to the store then, or about to, and none
    ///   reads it, unless `besideReaders`.
    func attempt(besideReaders: Bool = false) throws -> Bool {
        // This look locks nothing: a connection in the middle of a transaction never notices.
        guard try !isReserved, try lock(SQLITE_LOCK_SHARED) else { return false }
        do {
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
        guard (try? PlatformCalls.status(of: journal)) != nil else { return false }
        guard let first = try? OpenFile.reading(journal).read(1, at: 0) else { return true }
        return first.first.map { $0 != 0 } ?? false
    }
}
