import CoreDataReading
import GRDB
import ShipProtocol
import StoreFormat
import SystemPackage

/// What becomes of the words inside a copy that say what it came without.
package enum OmissionMarking: Hashable, Sendable {
    /// Those of the store stay, and none are added: the manifest goes with the copy.
    case asFound
    /// What is left out now is added to them.
    case written
    /// They go: the copy is to be the store.
    case removed
}

/// What a store says itself that it came without: the rows of `OmissionPlace.table`.
enum OmissionMark {
    /// - Returns: `nil` if it says nothing, or nothing that this program would have said.
    static func read(_ database: Database) throws -> Omissions? {
        guard try isOurs(database) == true else { return nil }
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT kind, name, bytes FROM \(OmissionPlace.table)
                WHERE typeof(kind) = 'text' AND typeof(name) = 'text' AND length(name) <= \(Limits.labelLength)
                ORDER BY kind, name LIMIT \(Limits.tables)
                """)
        var (hasHistory, tables, files): (Bool, [ForeignText], [Omissions.OmittedFile]) = (false, [], [])
        for row in rows {
            let (name, bytes): (String, Int64?) = (row[1], Int64.fromDatabaseValue(row[2]))
            switch OmissionPlace.Kind(rawValue: row[0]) {
            case .history: hasHistory = true
            case .table: if Label.isValid(ForeignText(name)) { tables.append(ForeignText(name)) }
            case .externalFile:
                guard let name = ExternalFileName(relativePath: name), let bytes,
                    (0...Limits.partSize).contains(bytes)
                else { continue }
                files.append(Omissions.OmittedFile(name: name, size: bytes))
            case nil: break
            }
        }
        return Omissions(history: hasHistory, tables: tables, externalFiles: files)
    }

    /// Lets a copy, which is thrown away should it not become whole, say itself what it came without.
    ///
    /// - Throws: `.tableIsTaken`.
    static func write(
        _ omissions: Omissions, intoCopy copy: FilePath, of store: FilePath, _ watch: ConnectionWatch
    ) throws(SnapshotError) {
        let connection = try WatchedConnection(address: copy.string, to: .write, of: store, watch: watch)
        try connection.read { database in
            try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")
            try write(omissions, into: database)
        }
    }

    private static func write(_ omissions: Omissions, into database: Database) throws {
        switch try isOurs(database) {
        case nil: try database.execute(sql: OmissionPlace.definition)
        case true?: try database.execute(sql: "DELETE FROM \(OmissionPlace.table)")
        case false?: throw SnapshotError.tableIsTaken(ForeignText(OmissionPlace.table))
        }
        func add(_ kind: OmissionPlace.Kind, _ name: String, _ bytes: Int64? = nil) throws {
            try database.execute(
                sql: "INSERT INTO \(OmissionPlace.table) VALUES (?, ?, ?)", arguments: [kind.rawValue, name, bytes])
        }
        if omissions.history { try add(.history, "") }
        for table in omissions.tables { try add(.table, table.unescaped) }
        for file in omissions.externalFiles { try add(.externalFile, file.name.relativePath, file.size) }
    }

    /// Whether a table is there and has no rows: since the copy was taken, it may have got some.
    static func isEmpty(_ table: String, in database: Database) throws -> Bool {
        let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?"
        guard try Int.fetchOne(database, sql: sql, arguments: [table]) == 1 else { return false }
        return try Row.fetchOne(database, sql: "SELECT 1 FROM \(SQLName.quoted(table)) NOT INDEXED") == nil
    }

    static func remove(from database: Database) throws {
        if try isOurs(database) == true { try database.execute(sql: "DROP TABLE \(OmissionPlace.table)") }
    }

    /// Whether the table is one that this program has made; `nil` if there is none.
    private static func isOurs(_ database: Database) throws -> Bool? {
        let columns = try String.fetchAll(
            database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [OmissionPlace.table])
        return columns.isEmpty ? nil : columns == OmissionPlace.columns
    }
}

extension ExternalFileName {
    /// What `relativePath` gives.
    fileprivate init?(relativePath: String) {
        let parts = relativePath.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let folder = Folder(rawValue: String(parts[0])) else { return nil }
        self.init(folder: folder, uuid: String(parts[1]))
    }
}
