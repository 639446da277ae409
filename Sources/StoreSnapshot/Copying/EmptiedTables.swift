import CSQLiteHardening
import CoreDataReading
import GRDB
import GRDBSQLite
import ShipProtocol

/// The tables that a profile empties, found in the store's schema, and what the store itself lacks.
struct EmptiedTables: Sendable {
    /// The parts that the store lacks by its mark.
    let mark: Omissions?
    private let marking: OmissionMarking
    /// The part of the mark that is still true: the manifest says no more, because consumers check it.
    let stillEmpty: (history: Bool, tables: [ForeignText])
    /// Whether the history is left out: the profile wants that, and the store has one.
    let hasHistory: Bool
    /// The tables that the user named, as the schema writes them, sorted.
    let named: [String]
    /// The full-text indexes of these tables, or of views, which may be of them.
    private let indexes: [String]

    private var all: [String] { named + (hasHistory ? CoreDataLayout.history : []) }
    var isEmpty: Bool { all.isEmpty && !dropsMark }
    private var dropsMark: Bool { mark != nil && marking == .removed }

    /// - Throws: `.noSuchTable`, `.tableMustStay`.
    init(_ profile: CopyProfile, _ marking: OmissionMarking, in database: Database) throws {
        mark = try Omissions(markedIn: database)
        self.marking = marking
        let history = try CoreDataLayout.history.allSatisfy { table in
            try !database.tableExists(table) || Self.isEmpty(table, in: database)
        }
        stillEmpty = (
            mark?.history == true && history,
            try mark?.tables.filter { try Self.isEmpty($0.unescaped, in: database) } ?? []
        )
        let isCoreData = try CoreDataStore(database) != nil
        hasHistory =
            try profile.leavesOutHistory && isCoreData
            && CoreDataLayout.history.allSatisfy { try database.tableExists($0) }
        guard !profile.emptiedTables.isEmpty else {
            (named, indexes) = ([], [])
            return
        }
        let virtual = try VirtualTable.all(in: database)
        let candidates = try Self.candidates(in: database, virtual, ofCoreData: isCoreData)
        let named = try Set(
            profile.emptiedTables.map { wanted in
                guard let table = candidates.first(where: { $0.name.lowercased() == wanted.lowercased() }) else {
                    throw SnapshotError.noSuchTable(
                        ForeignText(wanted),
                        near: NearNames.names(near: wanted, among: candidates.filter { $0.obstacle == nil }.map(\.name))
                    )
                }
                if let obstacle = table.obstacle {
                    throw SnapshotError.tableMustStay(ForeignText(table.name), because: obstacle)
                }
                return table.name
            }
        ).sorted()
        let left = Set(named.map { $0.lowercased() })
        let tables = Set(candidates.lazy.filter { $0.obstacle != .isView }.map { $0.name.lowercased() })
        let indexes = virtual.filter { table in
            guard let content = table.content?.lowercased() else { return false }
            return left.contains(content) || !tables.contains(content)
        }
        let fed = virtual.filter { table in !indexes.contains { $0.name == table.name } }
        for table in named
        where try Self.feeds(table, one: fed, in: database) || Self.isKept(table, inOneOf: fed, in: database) {
            throw SnapshotError.tableMustStay(ForeignText(table), because: .feedsVirtual)
        }
        (self.named, self.indexes) = (named, indexes.map(\.name))
    }

    /// Whether triggers of a table write to one of these virtual tables, or read it.
    private static func feeds(_ table: String, one virtual: [VirtualTable], in database: Database) throws -> Bool {
        guard !virtual.isEmpty else { return false }
        return try String.fetchAll(
            database,
            sql: """
                SELECT sql FROM sqlite_schema
                WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE AND typeof(sql) = 'text'
                """, arguments: [table]
        ).contains { sql in virtual.contains { $0.isNamed(in: sql) } }
    }

    /// Whether an R*Tree may be of the rows of a table: an app writes to it, and not triggers, and each box has the number of a row.
    private static func isKept(_ table: String, inOneOf virtual: [VirtualTable], in database: Database) throws -> Bool {
        let triggers = try String.fetchAll(
            database, sql: "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND typeof(sql) = 'text'")
        let boxes = virtual.filter { box in box.isRTree && box.isKnown && !triggers.contains { box.isNamed(in: $0) } }
        return try boxes.contains { box in
            let (name, rows) = (box.name.quotedSQLName, table.quotedSQLName)
            do {
                // A table WITHOUT ROWID has no numbers to share.
                _ = try database.makeStatement(sql: "SELECT rowid FROM \(rows)")
            } catch DatabaseError.SQLITE_ERROR {
                return false
            }
            let sql = """
                SELECT EXISTS (SELECT 1 FROM \(name))
                    AND NOT EXISTS (SELECT rowid FROM \(name) EXCEPT SELECT rowid FROM \(rows))
                """
            return try Bool.fetchOne(database, sql: sql) ?? false
        }
    }

    /// Deletes the rows, without a journal, triggers or foreign keys: the copy is thrown away on any error.
    func empty(_ copy: Database) throws {
        // Deleted content need not be overwritten: VACUUM does not copy it.
        try copy.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA foreign_keys = OFF; PRAGMA secure_delete = OFF")
        _ = ship_store_set_db_config(copy.sqliteConnection, CInt(SQLITE_DBCONFIG_ENABLE_TRIGGER), 0)
        for table in all { try copy.execute(sql: "DELETE FROM \(table.quotedSQLName)") }
        for index in indexes {
            do {
                try copy.execute(sql: "INSERT INTO \(index.quotedSQLName)(\(index.quotedSQLName)) VALUES ('rebuild')")
            } catch DatabaseError.SQLITE_ERROR {
                // Its tokenizer is the app's, or the view that it is of needs what only the app has.
                throw SnapshotError.tableMustStay(ForeignText(named[0]), because: .feedsVirtual)
            }
        }
        if dropsMark { try Omissions.removeMark(from: copy) }
    }

    /// The tables and views of the schema, and why their rows cannot be left out; `nil` if they can.
    private static func candidates(
        in database: Database, _ virtual: [VirtualTable], ofCoreData isCoreData: Bool
    ) throws -> [(name: String, obstacle: TableObstacle?)] {
        let shadows = try Set(
            String.fetchAll(
                database, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'shadow'"))
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT name, type, rootpage FROM sqlite_master
                WHERE type IN ('table', 'view') AND typeof(name) = 'text' AND typeof(rootpage) = 'integer'
                """)
        return rows.map { row in
            let name: String = row["name"]
            let obstacle: TableObstacle? =
                switch name {
                case _ where row["type"] == "view": .isView
                // A virtual table has no pages.
                case _ where (row["rootpage"] as Int64? ?? 0) == 0: .isVirtual
                case _ where name.hasPrefix("sqlite_"): .sqliteNeedsIt
                case _ where shadows.contains(name): .isPartOfVirtual
                case _ where virtual.contains { $0.mayKeepRows(in: name) }: .isPartOfVirtual
                case _ where isCoreData && CoreDataLayout.bookkeeping.contains(name): .coreDataNeedsIt
                case _ where isCoreData && CoreDataLayout.historyTables.contains(name): .isHistory
                default: nil
                }
            return (name, obstacle)
        }
    }

    /// Whether a table is there and has no rows. An app may have added rows since the copy was taken.
    private static func isEmpty(_ table: String, in database: Database) throws -> Bool {
        let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?"
        guard try Int.fetchOne(database, sql: sql, arguments: [table]) == 1 else { return false }
        return try Row.fetchOne(database, sql: "SELECT 1 FROM \(table.quotedSQLName) NOT INDEXED") == nil
    }
}
