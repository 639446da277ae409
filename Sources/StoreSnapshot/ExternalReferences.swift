import Foundation
import GRDB
import ShipProtocol

/// The search for the cells of a Core Data store that refer to external files.
///
/// A cell of an attribute that "allows external storage" begins with a tag: 1 for data that follows, 2 for the name of a
/// file in `_EXTERNAL_DATA`, 3 for one in `_FBF`. Other columns have no tags, and their content may begin with any byte;
/// so only the exact form is a reference: the tag, 36 characters of a UUID, and a NUL, which may be absent.
enum ExternalReferences {
    /// In the order of tables and rows; each file is listed once.
    ///
    /// - Throws: `SnapshotError.tooManyExternalFiles`.
    static func all(in database: Database) throws -> [ExternalFileReference] {
        var references: [ExternalFileReference] = []
        var names: Set<ExternalFileName> = []
        for (table, columns) in try blobColumns(of: database) {
            let rows = try Row.fetchCursor(database, sql: query(table, columns))
            while let row = try rows.next() {
                let values = Array(row.databaseValues)
                guard let key = Int64.fromDatabaseValue(values[0]) else { continue }
                for (column, value) in zip(columns, values.dropFirst()) {
                    guard let name = ExternalFileName(cell: value), names.insert(name).inserted else { continue }
                    references.append(ExternalFileReference(table: table, column: column, row: key, name: name))
                    guard references.count <= Limits.externalFiles else {
                        throw SnapshotError.tooManyExternalFiles(limit: Limits.externalFiles)
                    }
                }
            }
        }
        return references
    }

    /// The tables of entities, which have `Z_PK`, and their columns that are declared BLOB.
    private static func blobColumns(of database: Database) throws -> [(table: String, columns: [String])] {
        // Virtual tables, which have no root page, may be of modules that this SQLite does not know.
        let tables = try String.fetchAll(
            database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name GLOB 'Z*'")
        return try tables.sorted().compactMap { table in
            let columns = try database.columns(in: table)
            let blobs = columns.filter { $0.type.uppercased() == "BLOB" }.map(\.name)
            return columns.contains { $0.name == "Z_PK" } && !blobs.isEmpty ? (table, blobs) : nil
        }
    }

    /// SQLite answers `typeof` and `length` of a cell without reading it, so that long ones cost nothing. What cannot be
    /// a reference comes as NULL, for the same reason.
    private static func query(_ table: String, _ columns: [String]) -> String {
        let conditions = columns.map { column in
            let name = column.quotedDatabaseIdentifier
            return
                "typeof(\(name)) = 'blob' AND length(\(name)) IN (37, 38) AND substr(\(name), 1, 1) IN (x'02', x'03')"
        }
        let cells = zip(columns, conditions).map { column, condition in
            "CASE WHEN \(condition) THEN \(column.quotedDatabaseIdentifier) END"
        }
        let found = conditions.map { "(\($0))" }.joined(separator: " OR ")
        return """
            SELECT Z_PK, \(cells.joined(separator: ", ")) FROM \(table.quotedDatabaseIdentifier)
            WHERE \(found) ORDER BY Z_PK
            """
    }
}

extension ExternalFileName {
    /// - Returns: `nil` for a cell that is not exactly a reference.
    fileprivate init?(cell: DatabaseValue) {
        guard case .blob(let data) = cell.storage, (37...38).contains(data.count) else { return nil }
        let bytes = Array(data)
        guard bytes.count == 37 || bytes[37] == 0 else { return nil }
        let folder: Folder
        switch bytes[0] {
        case 2: folder = .externalData
        case 3: folder = .fileBacked
        default: return nil
        }
        guard let uuid = String(validating: bytes[1..<37], as: UTF8.self) else { return nil }
        self.init(folder: folder, uuid: uuid)
    }
}
