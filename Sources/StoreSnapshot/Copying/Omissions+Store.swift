import CoreDataReading
import GRDB
import ShipProtocol
import StoreFiles
import SystemPackage

/// The parts that a store says it came without: the rows of `OmissionPlace.table`, its mark.
extension Omissions {
    /// - Returns: `nil` if the store has no mark, or none that this program would have made.
    init?(markedIn database: Database) throws {
        guard try Self.isMarkOurs(in: database) == true else { return nil }
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
            case .table: if ForeignText(name).isLabel { tables.append(ForeignText(name)) }
            case .externalFile:
                guard let name = ExternalFileName(relativePath: name), let bytes,
                    (0...Limits.partSize).contains(bytes)
                else { continue }
                files.append(Omissions.OmittedFile(name: name, size: bytes))
            case nil: break
            }
        }
        self.init(history: hasHistory, tables: tables, externalFiles: files)
    }

    /// Writes the mark into a copy, which its maker throws away if this fails.
    ///
    /// - Throws: `.tableIsTaken`.
    func mark(copy: FilePath, of store: FilePath, _ watch: ConnectionWatch) throws(SnapshotError) {
        let connection = try WatchedConnection(address: copy.databaseURI, mayWrite: true, of: store, watch: watch)
        try connection.read { database in
            try database.execute(sql: "PRAGMA journal_mode = OFF")
            try mark(database)
        }
    }

    private func mark(_ database: Database) throws {
        switch try Self.isMarkOurs(in: database) {
        case nil: try database.execute(sql: OmissionPlace.definition)
        case true?: try database.execute(sql: "DELETE FROM \(OmissionPlace.table)")
        case false?: throw SnapshotError.tableIsTaken(ForeignText(OmissionPlace.table))
        }
        func add(_ kind: OmissionPlace.Kind, _ name: String, _ bytes: Int64? = nil) throws {
            try database.execute(
                sql: "INSERT INTO \(OmissionPlace.table) VALUES (?, ?, ?)", arguments: [kind.rawValue, name, bytes])
        }
        if history { try add(.history, "") }
        for table in tables { try add(.table, table.unescaped) }
        for file in externalFiles { try add(.externalFile, file.name.relativePath, file.size) }
    }

    static func removeMark(from database: Database) throws {
        if try isMarkOurs(in: database) == true { try database.execute(sql: "DROP TABLE \(OmissionPlace.table)") }
    }

    /// Whether the table is one that this program has made; `nil` if there is none.
    private static func isMarkOurs(in database: Database) throws -> Bool? {
        let columns = try String.fetchAll(
            database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [OmissionPlace.table])
        return columns.isEmpty ? nil : columns == OmissionPlace.columns
    }
}

extension ExternalFileName {
    /// Reads a path as `relativePath` writes it.
    fileprivate init?(relativePath: String) {
        let parts = relativePath.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let folder = Folder(rawValue: String(parts[0])) else { return nil }
        self.init(folder: folder, uuid: String(parts[1]))
    }
}
