import GRDB
import GRDBSQLite
import StoreFiles
import SystemPackage

/// The step from the live store to the copy: one `VACUUM INTO` over a read-only connection.
///
/// Source: sqlite.org/lang_vacuum.html#vacuuminto. In WAL mode the connection is one reader among others, which writers
/// and checkpoints do not wait for; in the other modes writers wait until it is done, as for any reader.
struct VacuumInto {
    let store: FilePath
    let access: SourceAccess
    let profile: CopyProfile
    let form: CopyForm
    let marking: OmissionMarking
    let watch: ConnectionWatch

    /// What is found out about the source under one shared lock.
    private struct Survey {
        /// Bytes of the whole store.
        let size: Int64
        /// Bytes of the pages in use, of which the copy needs no more.
        let used: Int64
        let hasChecks: Bool
        let emptied: EmptiedTables

        /// Whether the copy is made from a copy of the pages.
        var needsPages: Bool { hasChecks || !emptied.isEmpty }
    }

    /// - Parameter target: An absolute path, so that SQLite never takes it for a URI.
    /// - Returns: Which tables have no rows in the copy on the user's word, and the room that there is for what else is made
    ///   of it.
    func write(to target: FilePath) throws(SnapshotError) -> (EmptiedTables, Room) {
        let connection = try open()
        let survey = try connection.read { try self.survey($0) }
        // Beside what VACUUM writes there is first a copy of the pages, where it needs one, and then the canonical form.
        let needed = survey.used + max(survey.needsPages ? survey.size : 0, form == .canonical ? survey.used : 0)
        let room = try Room(for: needed, in: target.removingLastComponent(), leaving: watch.keptFree)
        try Self.prepare(target, room)
        guard survey.needsPages else {
            try connection.read { try Self.vacuum($0, into: target, room) }
            return (survey.emptied, room)
        }
        // Over a read-only connection SQLite does not know the CHECK constraints of its tables, but it does know those
        // of the copy, and takes tables that differ for different: then it inserts row by row, which gives other rowids
        // and bigger files, and fails where there are generated columns [3.40.1, insert.c, xferOptimization; build.c,
        // sqlite3AddCheckConstraint]. So such a store is vacuumed from a private copy of its pages, which may be written;
        // and so is one of which rows are left out.
        let pages = Self.pages(of: target)
        defer { try? PlatformCalls.removeFile(pages) }
        try Self.prepare(pages, room)
        let copy = try WatchedConnection(address: pages.string, to: .write, of: store, watch: watch)
        return try copy.read { copy in
            try copy.execute(sql: "PRAGMA synchronous = OFF")
            try connection.read { try PageCopy.copy($0, to: copy, room, watch.interruption) }
            // The schema may be another one by now.
            let emptied = try EmptiedTables(profile, marking, in: copy)
            if !emptied.isEmpty { try room.watch(copy) { try emptied.empty(copy) } }
            try Self.vacuum(copy, into: target, room)
            return (emptied, room)
        }
    }

    /// Whether what is copied to `target` is settled: something of it has been written.
    static func hasBegun(writing target: FilePath) -> Bool {
        [target, pages(of: target)].contains { ((try? PlatformCalls.status(of: $0))?.size ?? 0) > 0 }
    }

    /// Where the copy of the pages goes from which the target is made.
    private static func pages(of target: FilePath) -> FilePath { FilePath(target.string + ".pages") }

    /// - Throws: `.truncated` rather than `.corrupt` where SQLite finds that whole pages are missing.
    private func open() throws(SnapshotError) -> WatchedConnection {
        if let held = watch.held { return WatchedConnection(borrowing: held, of: store, watch: watch) }
        do throws(SnapshotError) {
            return try WatchedConnection(address: access.address(of: store), to: .read, of: store, watch: watch)
        } catch {
            if case .corrupt = error, !Sidecars(beside: store).logHasFrames {
                try StoreHandle(store, for: .reading).checkSize()
            }
            throw error
        }
    }

    private static func vacuum(_ database: Database, into target: FilePath, _ room: Room) throws {
        try room.watch(database) {
            // The copy is thrown away once it is shipped: nobody needs it after a power cut.
            try database.execute(sql: "PRAGMA synchronous = OFF")
            try database.execute(sql: "VACUUM main INTO ?", arguments: [target.string])
        }
    }

    /// VACUUM itself reads past what is missing, and takes it for zeros; so the file's size is checked before.
    ///
    /// - Throws: `.truncated`.
    private func survey(_ database: Database) throws -> Survey {
        // The shared lock keeps the file as it is, in WAL mode too as long as the log is empty.
        try database.execute(sql: "BEGIN")
        defer { try? database.execute(sql: "COMMIT") }
        let pageSize = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        if !Sidecars(beside: store).logHasFrames {
            let size = try PlatformCalls.status(of: store).size
            guard size >= pages * pageSize else {
                throw SnapshotError.truncated(store, size: size, expected: pages * pageSize)
            }
        }
        let checks = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND sql LIKE '%CHECK%'"
        return Survey(
            size: pages * pageSize, used: max(pages - free, 1) * pageSize,
            hasChecks: try Int.fetchOne(database, sql: checks) != 0,
            emptied: try EmptiedTables(profile, marking, in: database))
    }

    /// Makes the file that SQLite is to fill: for its owner only, where SQLite would make it for everybody to read.
    ///
    /// - Throws: `.noSpace`, `.file`.
    private static func prepare(_ target: FilePath, _ room: Room) throws(SnapshotError) {
        do throws(FileError) {
            _ = try OpenFile.creating(target)
        } catch {
            throw SnapshotError(writing: error, needed: room.needed)
        }
    }
}
