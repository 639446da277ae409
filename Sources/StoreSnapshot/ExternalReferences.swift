import CoreDataReading
import EssentialFoundation
import GRDB
import ShipProtocol

/// The cells of a Core Data store that refer to external files, found in it.
enum ExternalReferences {
    /// In the order of tables and rows; each file is listed once.
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
