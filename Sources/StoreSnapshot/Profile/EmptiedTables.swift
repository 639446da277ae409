import CSQLiteHardening
import CoreDataReading
import GRDB
import GRDBSQLite
import ShipProtocol
import StoreFormat

/// The tables that a profile empties, found in the store's schema, and what the store came without itself.
struct EmptiedTables: Sendable {
    /// What the store says that it came without.
    let mark: Omissions?
    private let marking: OmissionMarking
    /// Of that, what is still so: nobody says more in a manifest, which its consumer checks.
    let stillEmpty: (history: Bool, tables: [ForeignText])
    /// Whether the history is left out: it was asked for, and the store has one.
    let hasHistory: Bool
    /// What the user named, as the schema writes it, sorted.
    let named: [String]

    private var all: [String] { named + (hasHistory ? CoreDataLayout.history : []) }
    var isEmpty: Bool { all.isEmpty && !dropsMark }
    private var dropsMark: Bool { mark != nil && marking == .removed }

    /// - Throws: `.noSuchTable`, `.tableMustStay`.
    init(_ profile: CopyProfile, _ marking: OmissionMarking, in database: Database) throws {
        mark = try OmissionMark.read(database)
        self.marking = marking
        let history = try CoreDataLayout.history.allSatisfy { table in
            try !database.tableExists(table) || OmissionMark.isEmpty(table, in: database)
        }
        stillEmpty = (
            mark?.history == true && history,
            try mark?.tables.filter { try OmissionMark.isEmpty($0.unescaped, in: database) } ?? []
        )
        let isCoreData = try CoreDataStore(database) != nil
        hasHistory =
            try profile.history == .leftOut && isCoreData
            && CoreDataLayout.history.allSatisfy { try database.tableExists($0) }
        guard !profile.emptiedTables.isEmpty else {
            named = []
            return
        }
        let candidates = try Candidate.all(in: database, ofCoreData: isCoreData)
        named = try Set(
            profile.emptiedTables.map { wanted in
                guard let table = candidates.first(where: { $0.name.lowercased() == wanted.lowercased() }) else {
                    throw SnapshotError.noSuchTable(
                        ForeignText(wanted),
                        near: NearNames.of(wanted, among: candidates.filter { $0.obstacle == nil }.map(\.name))
                            .map { ForeignText($0) })
                }
                if let obstacle = table.obstacle {
                    throw SnapshotError.tableMustStay(ForeignText(table.name), because: obstacle)
                }
                return table.name
            }
        ).sorted()
    }

    /// Deletes the rows, in a copy that is thrown away if anything goes wrong: no journal, no triggers, no foreign keys.
    func empty(_ copy: Database) throws {
        // Deleted content need not be overwritten: VACUUM leaves it behind.
        try copy.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA foreign_keys = OFF; PRAGMA secure_delete = OFF")
        _ = ship_store_set_db_config(copy.sqliteConnection, CInt(SQLITE_DBCONFIG_ENABLE_TRIGGER), 0)
        for table in all { try copy.execute(sql: "DELETE FROM \(SQLName.quoted(table))") }
        if dropsMark { try OmissionMark.remove(from: copy) }
    }

    /// A table or a view of the schema.
    private struct Candidate {
        let name: String
        /// Why its rows cannot be left out; `nil` if they can.
        let obstacle: TableObstacle?

        static func all(in database: Database, ofCoreData isCoreData: Bool) throws -> [Candidate] {
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
                    case _ where isCoreData && CoreDataLayout.bookkeeping.contains(name): .coreDataNeedsIt
                    case _ where isCoreData && CoreDataLayout.historyTables.contains(name): .isHistory
                    default: nil
                    }
                return Candidate(name: name, obstacle: obstacle)
            }
        }
    }
}
