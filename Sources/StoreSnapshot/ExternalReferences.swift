import CoreDataReading
import EssentialFoundation
import GRDB
package import ShipProtocol
import StoreFiles
package import SystemPackage

/// The cells of a Core Data store that refer to external files, found in it.
package enum ExternalReferences {
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

    /// Which files have taken the place of others: the same column of the same row referred to these.
    ///
    /// - Parameters:
    ///   - names: Those others.
    ///   - base: A copy that refers to them, and that nobody changes.
    ///   - copy: A later one.
    /// - Returns: The others, by the names of those that came.
    package static func successors(
        of names: Set<ExternalFileName>, fromCopyAt base: FilePath, toCopyAt copy: FilePath
    ) throws(SnapshotError) -> [ExternalFileName: ExternalFileName] {
        let references = try reading(base) { database in try all(in: database).filter { names.contains($0.name) } }
        return try reading(copy) { database in
            let now = try blobColumns(of: database)
            var found: [ExternalFileName: ExternalFileName] = [:]
            for reference in references {
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

    private static func reading<Value>(
        _ copy: FilePath, _ body: (Database) throws -> Value
    ) throws(SnapshotError) -> Value {
        let watch = ConnectionWatch(interruption: Interruption(), busyTimeout: .zero)
        let connection = try WatchedConnection(address: DatabaseURI.immutable(copy), to: .read, of: copy, watch: watch)
        return try connection.read(body)
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
