import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import StoreFormat
import Synchronization
import SystemPackage

/// The step from the live store to a copy, in the first of these ways that is possible:
///
/// 1. The canonical form of what `VACUUM INTO` would make is made of the store's own pages, in one read transaction.
/// 2. It is made of a copy of the pages, where something has to be left out, or the pages cannot be read one by one.
/// 3. `VACUUM INTO` runs over a read-only connection. Its result decides where the other two might give another one.
///
/// Source: sqlite.org/lang_vacuum.html#vacuuminto. In WAL mode the connection is one reader among others, which writers
/// and checkpoints do not wait for; in the other modes writers wait until it is done, as for any reader. The first way
/// takes about as long as `VACUUM INTO`, or a third longer.
struct VacuumInto {
    let store: FilePath
    let access: SourceAccess
    let profile: CopyProfile
    /// Whether the canonical form of the copy is wanted.
    let inCanonicalForm: Bool
    let marking: OmissionMarking
    let watch: ConnectionWatch
    /// Tells when it is settled which state of the store is copied.
    let beginning: Beginning

    /// Whether a copy has begun.
    final class Beginning: Sendable {
        private let state = Atomic(false)
        private let movedAway = Atomic(false)

        var isOver: Bool { state.load(ordering: .acquiring) }
        fileprivate func end() { state.store(true, ordering: .releasing) }

        /// Whether another file has taken the name of the store that was opened, since the last call.
        func takeMovedAway() -> Bool { movedAway.exchange(false, ordering: .acquiringAndReleasing) }
        fileprivate func foundMovedAway() { movedAway.store(true, ordering: .releasing) }
    }

    /// The facts about the source that are read under one shared lock.
    private struct Survey {
        /// Bytes of the whole store.
        let size: Int64
        /// Bytes of the pages in use, which are all that the copy needs.
        let used: Int64
        let hasChecks: Bool
        let emptied: EmptiedTables

        /// Whether the copy is made from a copy of the pages.
        var needsPages: Bool { hasChecks || !emptied.isEmpty }
    }

    /// What `write` has made of the store.
    enum Form {
        case vacuumed
        /// The canonical form, and what is in its tables; `nil` if that cannot be told of all of them.
        case canonical(tables: [ForeignText: TableContent]?)
        /// A copy of its pages. The vacuumed copy would have the rows of `sqlite_schema` in this order, by their rowids.
        case pages(FilePath, CompactOrder)
    }

    /// - Parameters:
    ///   - target: Of the vacuumed copy, an absolute path, so that SQLite never takes it for a URI.
    ///   - canonical: Where to write the canonical form at once, if possible; `nil` where the copy has to be vacuumed.
    /// - Returns: Also the tables that the user left empty in the copy, and the space for the files that are still to be made.
    func write(
        to target: FilePath, orAtOnceTo canonical: FilePath?
    ) throws(SnapshotError) -> (form: Form, emptied: EmptiedTables, space: FreeSpace) {
        let connection = try open()
        let survey = try connection.read { try self.survey($0) }
        var mustVacuum = canonical == nil
        if let canonical, survey.emptied.isEmpty, watch.held == nil {
            let written = try connection.read { try make(canonical, of: $0, survey, orLeaveToVacuum: &mustVacuum) }
            if let written { return written }
        }
        // VACUUM INTO takes less time than a copy of the pages where most of them are free.
        let wantsPages = !mustVacuum && survey.size <= 2 * survey.used
        let needsPages = survey.needsPages || wantsPages
        // Beside the output of VACUUM there is first a copy of the pages, if it needs one, and then the canonical form.
        let needed = survey.used + max(needsPages ? survey.size : 0, inCanonicalForm ? survey.used : 0)
        let space = try FreeSpace(for: needed, in: target.removingLastComponent(), leaving: watch.keptFree)
        guard needsPages else {
            try Self.prepare(target, space)
            // VACUUM does not say when it begins to read.
            try connection.read { database in
                try settle(database) {
                    try Self.vacuum(database, into: target, space)
                    return true
                }
            }
            return (.vacuumed, survey.emptied, space)
        }
        // Over a read-only connection SQLite does not know the CHECK constraints of the store's tables, but it does know
        // those of the copy, and so takes the tables for different ones: then it inserts row by row, which gives other
        // rowids and bigger files, and fails where there are generated columns [3.40.1, insert.c, xferOptimization; build.c,
        // sqlite3AddCheckConstraint]. So a store with CHECK constraints is vacuumed from a private copy of its pages, which
        // may be written. So is a store some of whose rows are left out.
        let pages = Self.pages(of: target)
        do throws(SnapshotError) {
            try Self.prepare(pages, space)
            let (emptied, order) = try copyPages(of: connection, to: pages, space, wantsOrder: wantsPages)
            if let order { return (.pages(pages, order), emptied, space) }
            try Self.vacuum(pages, into: target, space, of: store, watch)
            return (.vacuumed, emptied, space)
        } catch {
            try? PlatformCalls.removeFile(pages)
            throw error
        }
    }

    /// Makes the canonical form of the store's own pages.
    ///
    /// - Parameter mustVacuum: Set where only `VACUUM INTO` can tell what the copy is.
    /// - Returns: `nil` where it could not be made.
    private func make(
        _ path: FilePath, of database: Database, _ survey: Survey, orLeaveToVacuum mustVacuum: inout Bool
    ) throws -> (form: Form, emptied: EmptiedTables, space: FreeSpace)? {
        try SnapshotPages.read(database, watch.interruption, settle: { try settle(database, $0) }) { pages in
            // The schema may be another one by now.
            let emptied = try EmptiedTables(profile, marking, in: database)
            guard emptied.isEmpty else { return nil }
            // If SQLite finds a fault in the schema here, `VACUUM INTO` finds it again and reports it.
            guard let order = (try? CompactOrder(of: database, watch)) ?? nil else {
                mustVacuum = true
                return nil
            }
            let space = try FreeSpace(for: survey.used, in: path.removingLastComponent(), leaving: watch.keptFree)
            beginning.end()
            switch try CanonicalSource.live(pages, order).makeCanonical(as: path, watch.interruption) {
            case .success(let tables):
                return (.canonical(tables: tables), emptied, space)
            case .failure:
                mustVacuum = true
                return nil
            }
        }
    }

    /// Runs the step that settles which state of the store is copied, when its turn comes.
    private func settle(_ database: Database, _ begin: () throws -> Bool) throws {
        try watch.turn.run({ try watch.interruption.check() }) {
            guard try begin() else { return false }
            // Another file may have taken the name since this one was opened, and may have been copied by now.
            guard !SnapshotPages.hasMoved(database) else {
                beginning.foundMovedAway()
                throw SnapshotError.busy(store, waited: .zero)
            }
            return true
        }
    }

    /// Removes what `write` left at these places.
    func discard(_ target: FilePath, _ canonical: FilePath?) {
        for file in [target, Self.pages(of: target), canonical] {
            if let file { try? PlatformCalls.removeFile(file) }
        }
    }

    /// Vacuums a copy of the pages, and removes it.
    static func vacuum(
        _ pages: FilePath, into target: FilePath, _ space: FreeSpace, of store: FilePath, _ watch: ConnectionWatch
    ) throws(SnapshotError) {
        defer { try? PlatformCalls.removeFile(pages) }
        try prepare(target, space)
        let copy = try WatchedConnection(address: pages.databaseURI, mayWrite: true, of: store, watch: watch)
        try copy.read { try vacuum($0, into: target, space) }
    }

    /// - Returns: Which tables were emptied in the copy, and the order of its schema, if it is wanted and can be told.
    private func copyPages(
        of connection: borrowing WatchedConnection, to pages: FilePath, _ space: FreeSpace, wantsOrder: Bool
    ) throws(SnapshotError) -> (EmptiedTables, CompactOrder?) {
        let copy = try WatchedConnection(address: pages.databaseURI, mayWrite: true, of: store, watch: watch)
        let emptied = try copy.read { copy in
            // The copy is thrown away on any error.
            try copy.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
            try connection.read { source in
                try copyPages(source, to: copy, space)
            }
            // The schema may be another one by now.
            let emptied = try EmptiedTables(profile, marking, in: copy)
            if !emptied.isEmpty { try space.watch(copy) { try emptied.empty(copy) } }
            return emptied
        }
        guard wantsOrder else { return (emptied, nil) }
        // If SQLite finds a fault in the schema here, `VACUUM INTO` finds it again and reports it.
        let order = try? copy.read { try CompactOrder(of: $0, watch) }
        return (emptied, order ?? nil)
    }

    /// Pages between two looks at the interruption.
    private static let pagesAtOnce: CInt = 1024

    /// Copies one state of the store page by page, free pages and journal mode included, with SQLite's backup API.
    ///
    /// The read transaction is held all the while: otherwise each commit of another connection would make the backup begin
    /// anew [sqlite.org/c3ref/backup_finish.html].
    private func copyPages(_ source: Database, to target: Database, _ space: FreeSpace) throws {
        defer { try? source.execute(sql: "COMMIT") }
        try settle(source) {
            try source.execute(sql: "BEGIN")
            // This is what takes the lock.
            _ = try Int.fetchOne(source, sql: "SELECT count(*) FROM sqlite_master")
            return true
        }
        try space.watch(target) {
            guard let backup = sqlite3_backup_init(target.sqliteConnection, "main", source.sqliteConnection, "main")
            else { throw DatabaseError(resultCode: target.lastErrorCode, message: target.lastErrorMessage) }
            var code = SQLITE_OK
            while code == SQLITE_OK, !watch.interruption.isCancelled {
                code = sqlite3_backup_step(backup, Self.pagesAtOnce)
            }
            let finished = sqlite3_backup_finish(backup)
            try watch.interruption.check()
            guard code == SQLITE_DONE, finished == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: target.lastErrorMessage)
            }
        }
    }

    /// Whether it is settled which state is copied to `target`: a part of the copy has been written.
    static func hasBegun(writing target: FilePath) -> Bool {
        [target, pages(of: target)].contains { ((try? PlatformCalls.status(of: $0))?.size ?? 0) > 0 }
    }

    /// The path of the copy of the pages.
    private static func pages(of target: FilePath) -> FilePath { FilePath(text: target.text + ".pages") }

    /// - Throws: `.truncated` rather than `.corrupt` where SQLite finds that whole pages are missing.
    private func open() throws(SnapshotError) -> WatchedConnection {
        if let held = watch.held { return WatchedConnection(borrowing: held, of: store, watch: watch) }
        do throws(SnapshotError) {
            return try WatchedConnection(address: access.address(of: store), of: store, watch: watch)
        } catch {
            if case .corrupt = error, !Sidecars(beside: store).logHasFrames {
                try StoreHandle(store).checkSize()
            }
            throw error
        }
    }

    private static func vacuum(_ database: Database, into target: FilePath, _ space: FreeSpace) throws {
        try space.watch(database) {
            // The copy need not survive a power cut: it is thrown away once it is shipped.
            try database.execute(sql: "PRAGMA synchronous = OFF")
            try database.execute(sql: "VACUUM main INTO ?", arguments: [target.databaseURI])
        }
    }

    /// This also checks the file's size: VACUUM itself takes missing pages for zeros.
    ///
    /// - Throws: `.truncated`.
    private func survey(_ database: Database) throws -> Survey {
        // The shared lock keeps the file from changing, in WAL mode too as long as the log is empty.
        try database.execute(sql: "BEGIN")
        defer { try? database.execute(sql: "COMMIT") }
        let pageSize: Int64 = try database.pragma("page_size") ?? 0
        let pages: Int64 = try database.pragma("page_count") ?? 0
        let free: Int64 = try database.pragma("freelist_count") ?? 0
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

    /// Makes the file that SQLite fills: readable by its owner only, while SQLite would make it readable by all.
    ///
    /// - Throws: `.noSpace`, `.file`.
    private static func prepare(_ target: FilePath, _ space: FreeSpace) throws(SnapshotError) {
        do throws(FileError) {
            _ = try OpenFile.creating(target)
        } catch {
            throw SnapshotError(writing: error, needed: space.needed)
        }
    }
}
