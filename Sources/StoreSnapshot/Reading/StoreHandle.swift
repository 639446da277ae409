import GRDBSQLite
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// The store's file as SQLite has it open, to read bytes or take a lock without SQL.
///
/// Nothing in this process may open the store with open(2): closing such a descriptor drops every lock that SQLite's
/// connections in this process hold on the file, also those of the app that contains the producer
/// [sqlite.org/howtocorrupt.html section 2.2]. SQLite's own handles take care of each other.
struct StoreHandle: ~Copyable {
    private let connection: OpaquePointer
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let methods: sqlite3_io_methods
    private let path: FilePath

    /// - Parameter mayLock: Whether `withExclusiveLock` is wanted, for which the file has to be writable.
    /// - Throws: `.noPermission`, `.noSuchFile`, `.file`, `.sqlite`.
    init(_ path: FilePath, mayLock: Bool = false) throws(SnapshotError) {
        let flags = mayLock ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
        var connection: OpaquePointer?
        var code = path.withPlatformString { sqlite3_open_v2($0, &connection, flags | SQLITE_OPEN_FULLMUTEX, nil) }
        var file: UnsafeMutablePointer<sqlite3_file>?
        if code == SQLITE_OK {
            code = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        }
        guard code == SQLITE_OK, let connection, let file, let methods = file.pointee.pMethods?.pointee else {
            let errno = Errno(rawValue: sqlite3_system_errno(connection))
            let error = SnapshotError(opening: path, code: code, errno: errno)
            sqlite3_close_v2(connection)
            throw error
        }
        self.connection = connection
        self.file = file
        self.methods = methods
        self.path = path
    }

    deinit { sqlite3_close_v2(connection) }

    /// The size of the file, in bytes. SQLite itself reports 0 for a file of one byte [os_unix.c, unixFileSize].
    var size: Int64 {
        get throws(SnapshotError) {
            try SnapshotError.wrapping { () throws(FileError) in try PlatformCalls.status(of: path).size }
        }
    }

    /// The header, checked without the rest of the file.
    ///
    /// - Returns: `nil` for a file of 0 bytes, which SQLite takes for an empty database.
    /// - Throws: `.notADatabase`, `.truncated`.
    func header() throws(SnapshotError) -> DatabaseHeader? {
        let size = try size
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(min(size, Int64(DatabaseHeader.size))))
        try check(methods.xRead?(file, &bytes, CInt(bytes.count), 0))
        do throws(StoreFlaw) {
            return try DatabaseHeader(decoding: bytes)
        } catch {
            guard case .truncated = error else { throw .notADatabase(path) }
            throw .truncated(path, size: size, expected: Int64(DatabaseHeader.size))
        }
    }

    /// The file's first bytes: fewer than `count` only if it is shorter.
    func start(upTo count: Int) throws(SnapshotError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(min(try size, Int64(count))))
        if !bytes.isEmpty { try check(methods.xRead?(file, &bytes, CInt(bytes.count), 0)) }
        return bytes
    }

    /// Checks that the file has all pages that its header counts.
    ///
    /// - Throws: `.truncated`.
    func checkSize() throws(SnapshotError) {
        guard let header = try header() else { return }
        let size = try size
        let expected = header.pageCount * Int64(header.pageSize)
        guard size >= expected else { throw .truncated(path, size: size, expected: expected) }
    }

    /// Runs `body` while no other connection, of any process, has the store open in WAL mode or reads it at all: each of
    /// them holds a shared lock. SQLite does the same before it removes a write-ahead log [wal.c, sqlite3WalClose].
    ///
    /// - Returns: Whether the lock was free, and `body` was run.
    func withExclusiveLock(_ body: () -> Void) -> Bool {
        guard let lock = methods.xLock, let unlock = methods.xUnlock else { return false }
        defer { _ = unlock(file, SQLITE_LOCK_NONE) }
        guard lock(file, SQLITE_LOCK_SHARED) == SQLITE_OK, lock(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK else {
            return false
        }
        body()
        return true
    }

    private func check(_ code: CInt?) throws(SnapshotError) {
        guard code != SQLITE_OK else { return }
        throw .sqlite(
            code: code ?? SQLITE_ERROR, message: ForeignText(String(cString: sqlite3_errstr(code ?? SQLITE_ERROR))))
    }
}

extension SnapshotError {
    fileprivate init(opening path: FilePath, code: CInt, errno: Errno) {
        switch errno {
        case .permissionDenied, .notPermitted: self = .noPermission(path)
        case .noSuchFileOrDirectory, .notDirectory: self = .noSuchFile(path)
        case _ where errno.rawValue != 0: self = .file(FileError(.open, path, errno))
        default: self = .sqlite(code: code, message: ForeignText(String(cString: sqlite3_errstr(code))))
        }
    }
}
