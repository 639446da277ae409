import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFiles
import StoreFormat
import Synchronization
import SystemPackage

/// The step from the live store to a copy, in the first of these ways that does:
///
/// 1. the canonical form of what `VACUUM INTO` would make is made of the store's own pages, in one read transaction;
/// 2. it is made of a copy of the pages, where something has to be left out, or the pages cannot be read one by one;
/// 3. one `VACUUM INTO` over a read-only connection, which is what decides where the other two might give something else.
///
/// Source: sqlite.org/lang_vacuum.html#vacuuminto. In WAL mode the connection is one reader among others, which writers
/// and checkpoints do not wait for; in the other modes writers wait until it is done, as for any reader. The first way
/// takes about as long as `VACUUM INTO`, or a third longer.
struct VacuumInto {
    let store: FilePath
    let access: SourceAccess
    let profile: CopyProfile
    let form: CopyForm
    let marking: OmissionMarking
    let watch: ConnectionWatch
    /// Set once it is settled which state of the store is copied.
    let beginning: Beginning

    /// Whether a copy has begun.
    final class Beginning: Sendable {
        private let state = Atomic(false)
        private let movedAway = Atomic(false)

        var isOver: Bool { state.load(ordering: .acquiring) }
        fileprivate func end() { state.store(true, ordering: .releasing) }

        /// Whether the store that was opened has its name no more, since this was asked last: another file has it.
        func takeMovedAway() -> Bool { movedAway.exchange(false, ordering: .acquiringAndReleasing) }
        fileprivate func foundMovedAway() { movedAway.store(true, ordering: .releasing) }
    }

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

    /// What is there of the store.
    struct Written {
        let form: Form
        /// Which tables have no rows in the copy on the user's word.
        let emptied: EmptiedTables
        /// That there is for what else is made of it.
        let room: Room

        enum Form {
            case vacuumed
            /// The canonical form, and what is in its tables; `nil` if that cannot be told of all of them.
            case canonical(tables: [ForeignText: TableContent]?)
            /// A copy of its pages. The vacuumed copy would have the rows of `sqlite_schema` in this order, by their rowids.
            case pages(FilePath, CompactOrder)
        }
    }

    /// - Parameters:
    ///   - target: Of the vacuumed copy, an absolute path, so that SQLite never takes it for a URI.
    ///   - wanted: What is to become of it.
    func write(to target: FilePath, for wanted: Wanted) throws(SnapshotError) -> Written {
        let connection = try open()
        let survey = try connection.read { try self.survey($0) }
        var wanted = wanted
        if case .canonical(let path) = wanted, survey.emptied.isEmpty, watch.held == nil {
            switch try connection.read({ try make(path, of: $0, survey) }) {
            case .made(let written): return written
            case .leftToVacuum: wanted = .vacuumed
            case nil: break
            }
        }
        // A store of which most is free is vacuumed sooner than copied.
        let wantsPages = wanted != .vacuumed && survey.size <= 2 * survey.used
        let needsPages = survey.needsPages || wantsPages
        // Beside what VACUUM writes there is first a copy of the pages, where it needs one, and then the canonical form.
        let needed = survey.used + max(needsPages ? survey.size : 0, form == .canonical ? survey.used : 0)
        let room = try Room(for: needed, in: target.removingLastComponent(), leaving: watch.keptFree)
        guard needsPages else {
            try Self.prepare(target, room)
            // In which moment VACUUM begins to read, it does not say.
            try connection.read { database in
                try settle(database) {
                    try Self.vacuum(database, into: target, room)
                    return true
                }
            }
            return Written(form: .vacuumed, emptied: survey.emptied, room: room)
        }
        // Over a read-only connection SQLite does not know the CHECK constraints of its tables, but it does know those
        // of the copy, and takes tables that differ for different: then it inserts row by row, which gives other rowids
        // and bigger files, and fails where there are generated columns [3.40.1, insert.c, xferOptimization; build.c,
        // sqlite3AddCheckConstraint]. So such a store is vacuumed from a private copy of its pages, which may be written;
        // and so is one of which rows are left out.
        let pages = Self.pages(of: target)
        do throws(SnapshotError) {
            try Self.prepare(pages, room)
            let (emptied, order) = try copyPages(of: connection, to: pages, room, wantsOrder: wantsPages)
            if let order {
                return Written(form: .pages(pages, order), emptied: emptied, room: room)
            }
            try vacuum(pages, into: target, room)
            return Written(form: .vacuumed, emptied: emptied, room: room)
        } catch {
            try? PlatformCalls.removeFile(pages)
            throw error
        }
    }

    /// What is to become of the copy.
    enum Wanted: Hashable {
        /// It has to be vacuumed.
        case vacuumed
        /// The canonical form is made of it at once, in this file.
        case canonical(FilePath)
    }

    private enum Direct {
        case made(Written)
        /// What `VACUUM INTO` makes is decisive.
        case leftToVacuum
    }

    /// Makes the canonical form of the store's own pages.
    ///
    /// - Returns: `nil` where a copy of them is needed.
    private func make(_ path: FilePath, of database: Database, _ survey: Survey) throws -> Direct? {
        try SnapshotPages.read(database, watch.interruption, settle: { try settle(database, $0) }) { pages in
            // The schema may be another one by now.
            let emptied = try EmptiedTables(profile, marking, in: database)
            guard emptied.isEmpty else { return nil }
            // What SQLite finds wrong with the schema, it finds once more in the midst of `VACUUM INTO`, and says there.
            guard let order = (try? CompactSchema.order(of: database, watch)) ?? nil else { return .leftToVacuum }
            let room = try Room(for: survey.used, in: path.removingLastComponent(), leaving: watch.keptFree)
            beginning.end()
            switch try CanonicalFile.make(of: .live(pages, order), as: path, watch.interruption) {
            case .made(let tables):
                return .made(Written(form: .canonical(tables: tables), emptied: emptied, room: room))
            case .impossible: return .leftToVacuum
            }
        }
    }

    /// Runs the step after which it is settled which state of the store is copied, in its turn.
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

    /// Removes what was written for nothing.
    func discard(_ target: FilePath, _ wanted: Wanted) {
        var files = [target, Self.pages(of: target)]
        if case .canonical(let path) = wanted { files.append(path) }
        for file in files { try? PlatformCalls.removeFile(file) }
    }

    /// Vacuums a copy of the pages, which goes.
    func vacuum(_ pages: FilePath, into target: FilePath, _ room: Room) throws(SnapshotError) {
        defer { try? PlatformCalls.removeFile(pages) }
        try Self.prepare(target, room)
        let copy = try WatchedConnection(address: pages.string, to: .write, of: store, watch: watch)
        try copy.read { try Self.vacuum($0, into: target, room) }
    }

    /// - Returns: Which tables were emptied in the copy, and the order of its schema, if it is wanted and can be told.
    private func copyPages(
        of connection: borrowing WatchedConnection, to pages: FilePath, _ room: Room, wantsOrder: Bool
    ) throws(SnapshotError) -> (EmptiedTables, CompactOrder?) {
        let copy = try WatchedConnection(address: pages.string, to: .write, of: store, watch: watch)
        let emptied = try copy.read { copy in
            // It is thrown away if anything goes wrong.
            try copy.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
            try connection.read { source in
                try PageCopy.copy(source, to: copy, room, watch.interruption) { try settle(source, $0) }
            }
            // The schema may be another one by now.
            let emptied = try EmptiedTables(profile, marking, in: copy)
            if !emptied.isEmpty { try room.watch(copy) { try emptied.empty(copy) } }
            return emptied
        }
        guard wantsOrder else { return (emptied, nil) }
        // What SQLite finds wrong with the schema, it finds once more in the midst of `VACUUM INTO`, and says there.
        let order = try? copy.read { try CompactSchema.order(of: $0, watch) }
        return (emptied, order ?? nil)
    }

    /// Whether what is copied to `target` is settled: something of it has been written, or its making has begun.
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
