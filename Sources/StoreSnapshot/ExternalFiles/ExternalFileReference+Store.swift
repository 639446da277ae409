import CoreDataReading
import EssentialFoundation
import GRDB
package import ShipProtocol
package import SystemPackage

extension ExternalFileReference {
    /// All references of a store, in the order of tables and rows; each file is listed once.
    ///
    /// - Throws: `SnapshotError.tooManyExternalFiles`.
    static func all(in database: Database) throws -> [ExternalFileReference] {
        var references: [ExternalFileReference] = []
        var names: Set<ExternalFileName> = []
        for (table, columns) in try blobColumns(of: database) {
            let rows = try Row.fetchCursor(database, sql: ExternalReferenceCell.query(table, columns))
            while let row = try rows.next() {
                let values = Array(row.databaseValues)
                guard let key = Int64.fromDatabaseValue(values[0]) else { continue }
                for (column, value) in zip(columns, values.dropFirst()) {
                    guard let name = ExternalReferenceCell.name(in: Data.fromDatabaseValue(value)),
                        names.insert(name).inserted
                    else { continue }
                    references.append(
                        ExternalFileReference(
                            table: ForeignText(table), column: ForeignText(column), row: key, name: name))
                    guard references.count <= Limits.externalFiles else {
                        throw SnapshotError.tooManyExternalFiles(limit: Limits.externalFiles)
                    }
                }
            }
        }
        return references
    }

    /// Finds the files that have succeeded others: the same column of the same row refers to them now.
    ///
    /// Only tables whose key is `Z_PK` count: in others SQLite would search all rows for each row.
    ///
    /// - Parameters:
    ///   - names: The earlier files.
    ///   - base: A copy that refers to them, and that no longer changes.
    ///   - copy: A later copy.
    /// - Returns: The earlier files, by the names of their successors.
    /// - Throws: `.cancelled` once the task is cancelled that calls it.
    package static func successors(
        of names: Set<ExternalFileName>, fromCopyAt base: FilePath, toCopyAt copy: FilePath
    ) throws(SnapshotError) -> [ExternalFileName: ExternalFileName] {
        let references = try WatchedConnection.readingCopy(at: base) { database, _ in
            try all(in: database).filter { names.contains($0.name) }
        }
        return try WatchedConnection.readingCopy(at: copy) { database, interruption in
            let now = try blobColumns(of: database).filter { try isKeyedByRow($0.table, in: database) }
            var found: [ExternalFileName: ExternalFileName] = [:]
            for reference in references {
                try interruption.check()
                let (table, column) = (reference.table.unescaped, reference.column.unescaped)
                guard now.contains(where: { $0.table == table && $0.columns.contains(column) }) else { continue }
                let cell = try Data.fetchOne(
                    database, sql: ExternalReferenceCell.query(table, column), arguments: [reference.row])
                guard let name = ExternalReferenceCell.name(in: cell), found[name] == nil else { continue }
                found[name] = reference.name
            }
            return found
        }
    }

    private static func isKeyedByRow(_ table: String, in database: Database) throws -> Bool {
        try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0", arguments: [table])
            == ["Z_PK"]
    }

    /// The tables of entities, and their columns that may hold references.
    private static func blobColumns(of database: Database) throws -> [(table: String, columns: [String])] {
        try String.fetchAll(database, sql: ExternalReferenceCell.tables).sorted().compactMap { table in
            let sql = "SELECT name, type FROM pragma_table_info(?)"
            let columns: [(name: String, type: String)] = try Row.fetchAll(database, sql: sql, arguments: [table])
                .map { ($0[0], $0[1]) }
            let blobs = ExternalReferenceCell.columns(among: columns)
            return blobs.isEmpty ? nil : (table, blobs)
        }
    }
}
