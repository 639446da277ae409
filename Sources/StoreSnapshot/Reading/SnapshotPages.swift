import GRDB
import GRDBSQLite
import StoreFormat

/// The pages of a live store in the state that a read transaction sees, in any order.
///
/// They are read through the files that SQLite itself has open: closing another descriptor would drop the locks of the process's
/// other connections [sqlite.org/howtocorrupt.html section 2.2]. No page of that state changes during the transaction: in rollback
/// mode the shared lock keeps writers from the file; in WAL mode later frames are not copied to the file, and the log does not
/// begin anew before its frames are copied [sqlite.org/walformat.html section 2.3].
///
/// Only the thread that uses the connection may use it. Memory: about 16 bytes for each page in the log.
final class SnapshotPages: PageSource {
    let pageCount: UInt32
    let pageSize: Int
    private let store: UnsafeMutablePointer<sqlite3_file>
    /// The last frame of each page that is in the log.
    private let frames: [UInt32: UInt32]
    private let log: (file: UnsafeMutablePointer<sqlite3_file>, state: LogState)?
    private let interruption: Interruption
    /// Of the store's file. Its pages that are not in the log do not change during the transaction, and no others are taken from there.
    private var ahead: PagesAhead

    /// The size of all pages, in bytes.
    var size: Int64 { Int64(pageCount) * Int64(pageSize) }

    /// How often to begin anew while others commit.
    private static let attempts = 20
    /// Longest log that is read, in frames.
    static let mostFrames: UInt32 = 250_000

    /// Runs `body` in a read transaction.
    ///
    /// - Parameter settle: Runs the step that begins the transaction, which says whether it is known what state that sees.
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

    private init?(_ database: Database, _ state: LogState, _ mostFrames: UInt32, _ interruption: Interruption) throws {
        guard let store = Self.file(SQLITE_FCNTL_FILE_POINTER, of: database),
            let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size"),
            let pageCount = try UInt32.fetchOne(database, sql: "PRAGMA page_count"), pageCount > 0
        else { return nil }
        self.store = store
        self.pageSize = pageSize
        self.pageCount = pageCount
        self.interruption = interruption
        ahead = PagesAhead(pageSize: pageSize)
        guard !state.isMoved else {
            log = nil
            frames = [:]
            return
        }
        guard state.pageSize == pageSize, state.frameCount <= mostFrames,
            let file = Self.file(SQLITE_FCNTL_JOURNAL_POINTER, of: database),
            let frames = try state.frames(in: file, interruption)
        else { return nil }
        log = (file, state)
        self.frames = frames
    }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        try interruption.check()
        guard (1...pageCount).contains(number) else { throw StoreFlaw.page(number, .number) }
        let isRead =
            if let frame = frames[number], let log {
                // No writer may change the frame during the transaction: its header is checked all the same.
                page.withUnsafeMutableBytes {
                    let offset = LogState.offset(of: frame, pageSize: pageSize)
                    return Self.read(log.file, into: $0, at: offset + LogState.frameHeaderSize)
                } && log.state.page(inFrame: frame, of: log.file) == number
            } else {
                try ahead.read(number, of: pageCount - number + 1, into: &page) { bytes, offset in
                    bytes.withUnsafeMutableBytes { Self.read(store, into: $0, at: offset) } ? bytes.count : 0
                }
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

    /// Whether the path of the open file leads to another file, or none [sqlite.org/c3ref/c_fcntl_begin_atomic_write.html].
    static func hasMoved(_ database: Database) -> Bool {
        var moved: CInt = 0
        return sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK
            && moved != 0
    }

    /// - Returns: Whether all bytes could be read.
    static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> Bool {
        file.pointee.pMethods?.pointee.xRead?(file, bytes.baseAddress, CInt(bytes.count), offset) == SQLITE_OK
    }
}
