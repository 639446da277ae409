import GRDB
import GRDBSQLite

/// Which state of a store a transaction sees that begins now.
///
/// Source: sqlite.org/walformat.html section 2.1, of the index's first page.
enum LogState {
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

        /// What stays the same as long as the log holds the same, also in an index that is made anew: how the frames are
        /// written, how many count, the sum over all of them, and the salts of the log.
        var content: [UInt8] { Array(header[13..<40]) }

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

    /// Runs `body` in a read transaction of which it is known what it sees.
    ///
    /// - Parameters:
    ///   - attempts: How often to begin anew while others commit.
    ///   - settle: Runs the step that begins the transaction, which says whether it is known what that sees.
    /// - Returns: `nil` where that cannot be told, or others commit all the time.
    static func inTransaction<Value>(
        of database: Database, _ interruption: Interruption, attempts: Int,
        settle: (() throws -> Bool) throws -> Void = { _ = try $0() }, _ body: (LogState) throws -> Value?
    ) throws -> Value? {
        for _ in 1...attempts {
            try interruption.check()
            var state: LogState?
            var isTold = true
            defer { try? database.execute(sql: "COMMIT") }
            try settle {
                let before = try LogState(of: database)
                try database.execute(sql: "BEGIN")
                // This is what takes the lock.
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
                // What was so before and after the transaction began is what it sees.
                let after = try LogState(of: database)
                guard let before, let after else {
                    isTold = false
                    return false
                }
                guard before.snapshot == after.snapshot else { return false }
                state = after
                return true
            }
            guard isTold else { return nil }
            if let state { return try body(state) }
        }
        return nil
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

    /// What tells one state from all others, for as long as the index lasts.
    var snapshot: [UInt8] {
        switch self {
        case .none: []
        case .log(let log): log.header
        }
    }
}
