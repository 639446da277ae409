import GRDB
import GRDBSQLite
import StoreFormat

/// The pages of a live store in the state that a read transaction sees, in whatever order they are asked for.
///
/// They are read through the files that SQLite itself has open: a descriptor of one's own would, once it is closed, take away
/// the locks that other connections of the process hold [sqlite.org/howtocorrupt.html section 2.2]. As long as the transaction
/// lasts no page of that state is written over: in rollback mode because nobody writes to the file; in WAL mode because frames
/// of the log after it are not moved to the file, and the log does not begin anew before its frames are moved
/// [sqlite.org/walformat.html section 2.3].
///
/// It is used by the thread that uses the connection. Memory: 16 bytes or so for each page that is in the log.
final class SnapshotPages: PageSource {
    let pageCount: UInt32
    let pageSize: Int
    private let store: UnsafeMutablePointer<sqlite3_file>
    /// Where the pages are whose last state is in the log: the number of the frame.
    private let frames: [UInt32: UInt32]
    private let log: (file: UnsafeMutablePointer<sqlite3_file>, state: LogState.Log)?
    private let interruption: Interruption

    /// Bytes of the pages.
    var size: Int64 { Int64(pageCount) * Int64(pageSize) }

    /// How often to begin anew while others commit.
    private static let attempts = 20
    /// Most frames of a log to look through.
    static let mostFrames: UInt32 = 250_000

    /// Runs `body` in a read transaction.
    ///
    /// - Parameter settle: Runs the step that begins the transaction, which says whether it is known what that sees.
    /// - Returns: `nil` where the pages cannot be read in this way: the log is too long, is of another version of SQLite, or
    ///   others commit all the time.
    static func read<Value>(
        _ database: Database, _ interruption: Interruption, upTo mostFrames: UInt32 = mostFrames,
        settle: (() throws -> Bool) throws -> Void = { _ = try $0() },
        _ body: (SnapshotPages) throws -> Value?
    ) throws -> Value? {
        try LogState.inTransaction(of: database, interruption, attempts: attempts, settle: settle) { state in
            guard let pages = try SnapshotPages(database, state, mostFrames, interruption) else { return nil }
            return try body(pages)
        }
    }

    private init?(
        _ database: Database, _ state: LogState, _ mostFrames: UInt32, _ interruption: Interruption
    ) throws {
        guard let store = Self.file(SQLITE_FCNTL_FILE_POINTER, of: database),
            let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size"),
            let pageCount = try UInt32.fetchOne(database, sql: "PRAGMA page_count"), pageCount > 0
        else { return nil }
        self.store = store
        self.pageSize = pageSize
        self.pageCount = pageCount
        self.interruption = interruption
        guard case .log(let log) = state, !log.isMoved else {
            self.log = nil
            frames = [:]
            return
        }
        guard log.pageSize == pageSize, log.frameCount <= mostFrames,
            let file = Self.file(SQLITE_FCNTL_JOURNAL_POINTER, of: database),
            let frames = try log.frames(in: file, interruption)
        else { return nil }
        self.log = (file, log)
        self.frames = frames
    }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        try interruption.check()
        guard (1...pageCount).contains(number) else { throw StoreFlaw.page(number, .number) }
        let isRead = page.withUnsafeMutableBytes { page in
            guard let frame = frames[number], let log else {
                return Self.read(store, into: page, at: Int64(number - 1) * Int64(pageSize))
            }
            let offset = LogState.Log.offset(of: frame, pageSize: pageSize)
            // Nobody may write here as long as the transaction lasts: the page is not believed without being asked.
            return Self.read(log.file, into: page, at: offset + LogState.Log.frameHeaderSize)
                && log.state.page(inFrame: frame, of: log.file) == number
        }
        guard isRead else { throw StoreFlaw.page(number, .number) }
    }

    static func file(_ which: CInt, of database: Database) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(database.sqliteConnection, "main", which, &file) == SQLITE_OK,
            file?.pointee.pMethods != nil
        else { return nil }
        return file
    }

    /// Whether the file that is open has its name no more [sqlite.org/c3ref/c_fcntl_begin_atomic_write.html].
    static func hasMoved(_ database: Database) -> Bool {
        var moved: CInt = 0
        return sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK
            && moved != 0
    }

    /// - Returns: Whether all of it could be read.
    static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> Bool {
        file.pointee.pMethods?.pointee.xRead?(file, bytes.baseAddress, CInt(bytes.count), offset) == SQLITE_OK
    }
}
