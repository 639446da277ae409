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
    /// - Returns: `nil` where the pages cannot be read in this way: the log is too long, is of another version of SQLite, or
    ///   others commit all the time.
    static func read<Value>(
        _ database: Database, _ interruption: Interruption, upTo mostFrames: UInt32 = mostFrames,
        _ body: (SnapshotPages) throws -> Value?
    ) throws -> Value? {
        for _ in 1...attempts {
            try interruption.check()
            let before = try LogState(of: database)
            try database.execute(sql: "BEGIN")
            defer { try? database.execute(sql: "COMMIT") }
            // This is what takes the lock.
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
            // What was so before and after the transaction began is what it sees.
            let after = try LogState(of: database)
            guard let before, let after else { return nil }
            guard before.snapshot == after.snapshot else { continue }
            guard let pages = try SnapshotPages(database, after, mostFrames, interruption) else { return nil }
            return try body(pages)
        }
        return nil
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

    fileprivate static func file(_ which: CInt, of database: Database) -> UnsafeMutablePointer<sqlite3_file>? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(database.sqliteConnection, "main", which, &file) == SQLITE_OK,
            file?.pointee.pMethods != nil
        else { return nil }
        return file
    }

    /// - Returns: Whether all of it could be read.
    fileprivate static func read(
        _ file: UnsafeMutablePointer<sqlite3_file>, into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
    ) -> Bool {
        file.pointee.pMethods?.pointee.xRead?(file, bytes.baseAddress, CInt(bytes.count), offset) == SQLITE_OK
    }
}

/// Which state of a store a transaction sees that begins now.
///
/// Source: sqlite.org/walformat.html section 2.1, of the index's first page.
private enum LogState {
    /// There is no log that counts.
    case none
    case log(Log)

    struct Log {
        /// `WalIndexHdr`, which is another one after each commit.
        let header: [UInt8]
        /// Frames that have been moved to the store.
        let moved: UInt32

        static let frameHeaderSize: Int64 = 24
        private static let headerSize: Int64 = 32

        static func offset(of frame: UInt32, pageSize: Int) -> Int64 {
            headerSize + Int64(frame - 1) * (frameHeaderSize + Int64(pageSize))
        }

        private func word(_ offset: Int) -> UInt32 {
            header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
        }

        var version: UInt32 { word(0) }
        var isMade: Bool { header[12] != 0 }
        var pageSize: Int {
            let size = header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 14, as: UInt16.self) }
            return size == 1 ? 65_536 : Int(size)
        }
        /// Frames that the state is made of.
        var frameCount: UInt32 { word(16) }
        /// Whether the store's file has all of it. Those who read a state of which the log has some keep others from moving
        /// more than that, so that this holds for them from then on, and what is not moved stays in the log.
        var isMoved: Bool { moved >= frameCount }

        /// Where each page is in the log.
        ///
        /// - Returns: `nil` if the frames are not those of this log.
        func frames(in file: UnsafeMutablePointer<sqlite3_file>, _ interruption: Interruption) throws -> [UInt32:
            UInt32]?
        {
            var places: [UInt32: UInt32] = [:]
            for frame in 1...max(1, frameCount) {
                if frame % 1024 == 0 { try interruption.check() }
                guard let page = page(inFrame: frame, of: file) else { return nil }
                places[page] = frame
            }
            return places
        }

        /// The number of the page that a frame holds.
        ///
        /// - Returns: `nil` if it is not a frame of this log.
        func page(inFrame frame: UInt32, of file: UnsafeMutablePointer<sqlite3_file>) -> UInt32? {
            withUnsafeTemporaryAllocation(byteCount: Int(Self.frameHeaderSize), alignment: 8) { bytes in
                let isRead = SnapshotPages.read(file, into: bytes, at: Self.offset(of: frame, pageSize: pageSize))
                // The salts are in the index as they are in the file.
                guard isRead, bytes[8..<16].elementsEqual(header[32..<40]) else { return nil }
                return bytes[0..<4].reduce(0) { $0 << 8 | UInt32($1) }
            }
        }
    }

    /// - Returns: `nil` if that cannot be told.
    init?(of database: Database) throws {
        guard try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal" else {
            self = .none
            return
        }
        guard let log = Self.log(of: database) else { return nil }
        self = .log(log)
    }

    private static func log(of database: Database) -> Log? {
        // Of what SQLite has mapped already, for the transaction before: nothing is made.
        var index: UnsafeMutableRawPointer?
        guard let store = SnapshotPages.file(SQLITE_FCNTL_FILE_POINTER, of: database),
            let methods = store.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap,
            let barrier = methods.pointee.xShmBarrier
        else { return nil }
        guard map(store, 0, 32_768, 0, &index) == SQLITE_OK, let index else { return nil }
        for _ in 1...10 {
            // Before the headers: who begins the log anew writes new ones first and then says that nothing is moved. So a log that
            // seems not to be moved because it has begun anew has another header than before.
            let moved = index.load(fromByteOffset: 96, as: UInt32.self)
            barrier(store)
            // Its writer writes the second one first.
            let first = [UInt8](UnsafeRawBufferPointer(start: index, count: 48))
            barrier(store)
            let second = [UInt8](UnsafeRawBufferPointer(start: index + 48, count: 48))
            barrier(store)
            guard first == second else { continue }
            let log = Log(header: first, moved: moved)
            return log.isMade && log.version == 3_007_000 ? log : nil
        }
        return nil
    }

    /// What tells one state from all others.
    var snapshot: [UInt8] {
        switch self {
        case .none: []
        case .log(let log): log.header
        }
    }
}
