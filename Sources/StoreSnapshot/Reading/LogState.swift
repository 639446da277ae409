import GRDB
import GRDBSQLite

/// The state of a store that a transaction sees if it begins now.
///
/// Source: sqlite.org/walformat.html section 2.1, on the first page of the index.
struct LogState {
    /// `WalIndexHdr`, which changes with each commit and identifies the state as long as the index exists; zeros without a valid log.
    let header: [UInt8]
    /// How many frames have been copied to the store's file.
    let moved: UInt32

    static let frameHeaderSize: Int64 = 24
    private static let headerSize: Int64 = 32
    private static let indexHeaderSize = 48

    static func offset(of frame: UInt32, pageSize: Int) -> Int64 {
        headerSize + Int64(frame - 1) * (frameHeaderSize + Int64(pageSize))
    }

    private func word(_ offset: Int) -> UInt32 {
        header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }

    var version: UInt32 { word(0) }
    /// Whether there is a valid log.
    var isMade: Bool { header[12] != 0 }
    var pageSize: Int {
        let size = header.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 14, as: UInt16.self) }
        return size == 1 ? 65_536 : Int(size)
    }
    /// How many frames the state has.
    var frameCount: UInt32 { word(16) }
    /// Whether the store's file has all frames, as without a log. It stays so during the transaction: a reader of this state keeps others from
    /// copying later frames, and frames that are not copied stay in the log.
    var isMoved: Bool { moved >= frameCount }

    /// The part that identifies the content of the log, also in a new index: the format of the frames, how many are valid,
    /// the checksum over all of them, and the salts of the log.
    var content: [UInt8] { Array(header[13..<40]) }

    /// The number of the last frame of each page in the log.
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
            // The index has the salts in the byte order of the file.
            guard isRead, bytes[8..<16].elementsEqual(header[32..<40]) else { return nil }
            return bytes[0..<4].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Whether the log has a commit after the frames of this state. Its writer tells the index of it once it is on the disk, which changes no
    /// time of a file [wal.c, sqlite3WalFrames and walIndexWriteHdr].
    func isFollowedByCommit(in file: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        guard let start = Self.bytes(Int(Self.headerSize), of: file, at: 0), frameCount < .max else { return false }
        let (size, salts) = (Int(Self.number(start[8..<12])), start[16..<24])
        // The index need not know the salts of a new log before its first commit; of one that begins anew it has the next ones.
        let isOld =
            frameCount == 0
            ? Self.number(salts.prefix(4)) &+ 1 == Self.number(header[32..<36]) : !salts.elementsEqual(header[32..<40])
        guard !isOld, (512...65_536).contains(size) else { return false }
        func frame(_ number: UInt32, _ count: Int) -> [UInt8]? {
            let frame = Self.bytes(count, of: file, at: Self.offset(of: number, pageSize: size))
            return frame.flatMap { $0[8..<16].elementsEqual(salts) ? $0 : nil }
        }
        var end = frameCount + 1
        while true {
            guard let frame = frame(end, Int(Self.frameHeaderSize)), end < .max else { return false }
            // The size of the store after a commit, in pages; 0 in a frame that ends none.
            if frame[4..<8].contains(where: { $0 != 0 }) { break }
            end += 1
        }
        // A power cut, or an error, may leave frames that nobody counts any more.
        var sum = frameCount == 0 ? (Self.number(start[24..<28]), Self.number(start[28..<32])) : (word(24), word(28))
        for number in (frameCount + 1)...end {
            guard let frame = frame(number, Int(Self.frameHeaderSize) + size) else { return false }
            Self.add(frame[..<8], to: &sum, isBigEndian: start[3] & 1 == 1)
            Self.add(frame[24...], to: &sum, isBigEndian: start[3] & 1 == 1)
            guard sum == (Self.number(frame[16..<20]), Self.number(frame[20..<24])) else { return false }
            if number - frameCount == Self.mostSummed { break }
        }
        return true
    }

    /// Frames of a commit that are looked at whole: of a longer one the rest is taken to be right.
    private static let mostSummed: UInt32 = 1024

    /// The checksum of the log [sqlite.org/fileformat2.html section 4.2].
    private static func add(_ bytes: ArraySlice<UInt8>, to sum: inout (UInt32, UInt32), isBigEndian: Bool) {
        for place in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
            let words = (number(bytes[place..<(place + 4)]), number(bytes[(place + 4)..<(place + 8)]))
            sum.0 &+= (isBigEndian ? words.0 : words.0.byteSwapped) &+ sum.1
            sum.1 &+= (isBigEndian ? words.1 : words.1.byteSwapped) &+ sum.0
        }
    }

    /// Big-endian.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

    private static func bytes(_ count: Int, of file: UnsafeMutablePointer<sqlite3_file>, at place: Int64) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return bytes.withUnsafeMutableBytes { SnapshotPages.read(file, into: $0, at: place) } ? bytes : nil
    }

    /// Runs `body` in a read transaction, with the state that the transaction sees.
    ///
    /// - Parameters:
    ///   - attempts: How often to begin anew while others commit.
    ///   - settle: Runs the step that begins the transaction, which says whether it is known what state that sees.
    /// - Returns: `nil` where the state cannot be told, or others commit all the time.
    static func inTransaction<Value>(
        of database: Database, _ interruption: Interruption, attempts: Int,
        settle: (() throws -> Bool) throws -> Void = { _ = try $0() }, _ body: (LogState) throws -> Value?
    ) throws -> Value? {
        for _ in 1...attempts {
            try interruption.check()
            var state: LogState?
            var isTold = true
            defer { database.endReadTransaction() }
            try settle {
                let before = try LogState(of: database)
                try database.execute(sql: "BEGIN")
                // This is what takes the lock.
                _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
                // If the state before and after the beginning is the same, the transaction sees it.
                let after = try LogState(of: database)
                guard let before, let after else {
                    isTold = false
                    return false
                }
                guard before.header == after.header else { return false }
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
            (header, moved) = ([UInt8](repeating: 0, count: Self.indexHeaderSize), 0)
            return
        }
        // SQLite mapped the index for the transaction before: this makes nothing.
        var index: UnsafeMutableRawPointer?
        guard let store = SnapshotPages.file(SQLITE_FCNTL_FILE_POINTER, of: database),
            let methods = store.pointee.pMethods, methods.pointee.iVersion >= 2, let map = methods.pointee.xShmMap,
            let barrier = methods.pointee.xShmBarrier
        else { return nil }
        guard map(store, 0, 32_768, 0, &index) == SQLITE_OK, let index else { return nil }
        for _ in 1...10 {
            // Read before the headers: a writer that begins the log anew writes a new header first, and resets this number then. So
            // if the number was reset, the header is another one than before.
            let moved = index.load(fromByteOffset: 96, as: UInt32.self)
            barrier(store)
            // A writer writes the second header first.
            let first = [UInt8](UnsafeRawBufferPointer(start: index, count: Self.indexHeaderSize))
            barrier(store)
            let second = [UInt8](
                UnsafeRawBufferPointer(start: index + Self.indexHeaderSize, count: Self.indexHeaderSize))
            barrier(store)
            guard first == second else { continue }
            (header, self.moved) = (first, moved)
            guard isMade, version == 3_007_000 else { return nil }
            return
        }
        return nil
    }
}
