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
        /// Whether `VACUUM INTO` would write each row that there is, under its rowid.
        let isKeptByVacuum: Bool
        let emptied: EmptiedTables

        /// Whether the copy is made from a copy of the pages.
        var needsPages: Bool { hasChecks || !isKeptByVacuum || !emptied.isEmpty }
    }

    /// The form that `write` has made of the store.
    enum Form {
        case vacuumed
        /// The canonical form, and what is in its tables; `nil` if that cannot be told of all of them.
        case canonical(tables: [ForeignText: TableContent]?)
        /// A copy of its pages, to make the canonical form of.
        case pages(PageCopy)
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
        if !survey.needsPages, !wantsPages {
            do throws(SnapshotError) {
                return (.vacuumed, survey.emptied, try vacuum(connection, into: target, survey))
            } catch {
                // SQLite reads some schemas that it would not make anew: those that need functions of the app.
                guard error.isOfSchema else { throw error }
                try? PlatformCalls.removeFile(target)
            }
        }
        // Over a read-only connection SQLite does not know the CHECK constraints of the store's tables, but it does know
        // those of the copy, and so takes the tables for different ones: then it inserts row by row, which gives other
        // rowids and bigger files, and fails where there are generated columns [3.40.1, insert.c, xferOptimization; build.c,
        // sqlite3AddCheckConstraint]. So a store with CHECK constraints, or what else `VACUUM INTO` would not keep, is copied by its
        // pages. So is a store some of whose rows are left out.
        let space = try FreeSpace(
            for: survey.used + survey.size, in: target.removingLastComponent(), leaving: watch.keptFree)
        let pages = PageCopy(path: Self.pages(of: target), store: store, watch: watch)
        do throws(SnapshotError) {
            let file = try Self.prepare(pages.path, space)
            try pages.fill(file, space) { copy throws(SnapshotError) in
                try connection.read { try copyPages($0, to: copy, space) }
            }
            // The schema may be another one by now.
            let emptied = try pages.change { copy in
                let emptied = try EmptiedTables(profile, marking, in: copy)
                if !emptied.isEmpty { try space.watch(copy) { try emptied.empty(copy) } }
                return emptied
            }
            return (.pages(pages), emptied, space)
        } catch {
            try? PlatformCalls.removeFile(pages.path)
            throw error
        }
    }

    /// Vacuums the store itself.
    private func vacuum(
        _ connection: borrowing WatchedConnection, into target: FilePath, _ survey: Survey
    ) throws(SnapshotError) -> FreeSpace {
        // Beside the output of VACUUM there is the canonical form.
        let space = try FreeSpace(
            for: survey.used * (inCanonicalForm ? 2 : 1), in: target.removingLastComponent(), leaving: watch.keptFree)
        try Self.prepare(target, space)
        // VACUUM does not say when it begins to read.
        try connection.read { database in
            try settle(database) {
                try Self.vacuum(database, into: target, space)
                return true
            }
        }
        return space
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
            guard let order = (try? CompactOrder(of: database)) ?? nil else {
                mustVacuum = true
                return nil
            }
            let space = try FreeSpace(for: survey.used, in: path.removingLastComponent(), leaving: watch.keptFree)
            beginning.end()
            switch try CanonicalSource.live(pages, order).makeCanonical(as: path, watch) {
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

    /// Pages between two looks at the interruption.
    private static let pagesAtOnce: CInt = 1024

    /// Copies one state of the store page by page, free pages and journal mode included, with SQLite's backup API.
    ///
    /// The read transaction is held all the while: otherwise each commit of another connection would make the backup begin
    /// anew [sqlite.org/c3ref/backup_finish.html].
    private func copyPages(_ source: Database, to target: Database, _ space: FreeSpace) throws {
        defer { source.endReadTransaction() }
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

    static func vacuum(_ database: Database, into target: FilePath, _ space: FreeSpace) throws {
        try space.watch(database) {
            do {
                try database.execute(sql: "VACUUM main INTO ?", arguments: [target.databaseURI])
            } catch DatabaseError.SQLITE_FULL {
                // SQLite says so of a page number above its limit, too, as there is in erased flash [pager.c, getPageNormal].
                let words = try? String.fetchOne(database, sql: "PRAGMA quick_check(1)")
                throw DatabaseError(resultCode: words == "ok" ? .SQLITE_FULL : .SQLITE_CORRUPT, message: words)
            }
        }
    }

    /// This also checks the file's size: VACUUM itself takes missing pages for zeros.
    ///
    /// - Throws: `.truncated`.
    private func survey(_ database: Database) throws -> Survey {
        // The shared lock keeps the file from changing, in WAL mode too as long as the log is empty.
        try database.execute(sql: "BEGIN")
        defer { database.endReadTransaction() }
        let pageSize: Int64 = try database.pragma("page_size") ?? 0
        let pages: Int64 = try database.pragma("page_count") ?? 0
        // The header of a damaged store may say any number.
        let free: Int64 = min(max(0, try database.pragma("freelist_count") ?? 0), pages)
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
            isKeptByVacuum: try isHeaderModern(database) && Self.isSchemaVacuumed(database),
            emptied: try EmptiedTables(profile, marking, in: database))
    }

    /// Whether the header is as SQLite writes it today. In the schema formats 1 to 3, which it wrote before 3.7.10, DESC has no meaning: where
    /// there is one, `VACUUM INTO` inserts row by row, and gives other rowids [insert.c, xferCompatibleIndex].
    private func isHeaderModern(_ database: Database) -> Bool {
        guard let file = SnapshotPages.file(SQLITE_FCNTL_FILE_POINTER, of: database) else { return false }
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        // A store without tables has format 0, until its log is moved into the file.
        guard header.withUnsafeMutableBytes({ SnapshotPages.read(file, into: $0, at: 0) }),
            header[44..<48] != [0, 0, 0, 0]
        else { return !Sidecars(beside: store).logHasFrames }
        return DatabaseHeader.modern(header)[20...] == header[20...]
    }

    /// Whether `VACUUM INTO` makes all tables anew. It runs only statements that begin in this way [vacuum.c, execSql], and makes
    /// `sqlite_sequence` where there is AUTOINCREMENT.
    private static func isSchemaVacuumed(_ database: Database) throws -> Bool {
        let sql = """
            SELECT NOT EXISTS (SELECT * FROM sqlite_schema WHERE type IN ('table', 'index') AND sql NOT GLOB 'CRE*')
                AND (EXISTS (SELECT * FROM sqlite_schema WHERE sql LIKE '%AUTOINCREMENT%')
                    OR NOT EXISTS (SELECT * FROM sqlite_schema WHERE name = 'sqlite_sequence'))
            """
        return try Bool.fetchOne(database, sql: sql) ?? false
    }

    /// Makes the file that SQLite fills: readable by its owner only, while SQLite would make it readable by all.
    ///
    /// - Throws: `.noSpace`, `.file`.
    @discardableResult
    static func prepare(_ target: FilePath, _ space: FreeSpace) throws(SnapshotError) -> OpenFile {
        try SnapshotError.writing(needed: space.needed) { () throws(FileError) in try OpenFile.creating(target) }
    }
}

extension SnapshotError {
    /// Whether SQLite has said it of a statement that makes a part of the schema.
    fileprivate var isOfSchema: Bool {
        switch self {
        case .needsApp(.function), .needsApp(.collation), .sqlite(SQLITE_ERROR, _): true
        default: false
        }
    }
}
