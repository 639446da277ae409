package import GRDB
import StoreFiles
package import StoreFormat
package import SystemPackage

/// What the entries of a store's indexes are made of, as SQLite says it.
///
/// Source: sqlite.org/pragma.html#pragma_index_xinfo and #pragma_table_xinfo; sqlite.org/fileformat2.html section 2.4 for
/// the order of values in a record.
package enum IndexShapes {
    /// Of a file that nobody changes.
    package static func all(inCopyAt path: FilePath) throws(SnapshotError) -> [String: IndexShape] {
        let watch = ConnectionWatch(interruption: Interruption(), busyTimeout: .zero)
        let connection = try WatchedConnection(
            address: DatabaseURI.immutable(path), to: .read, of: path, watch: watch)
        return try connection.read { try all(in: $0) }
    }

    /// By the names of the indexes. Those that hold expressions, or are in an order of the app's own, are not there.
    package static func all(in database: Database) throws -> [String: IndexShape] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT tbl_name, name FROM sqlite_master WHERE type = 'index' AND rootpage <> 0")
        var shapes: [String: IndexShape] = [:]
        var tables: [String: RecordLayout] = [:]
        for row in rows {
            let words = Array(row.databaseValues).compactMap { String.fromDatabaseValue($0) }
            guard words.count == 2 else { continue }
            let table = try tables[words[0]] ?? RecordLayout(of: words[0], in: database)
            tables[words[0]] = table
            shapes[words[1]] = try table.shape(of: words[1], in: database)
        }
        return shapes
    }
}

extension RecordLayout {
    /// - Returns: `nil` if the entries do not follow from rows and SQLite's own collations.
    fileprivate func shape(of index: String, in database: Database) throws -> IndexShape? {
        var parts: [IndexShape.Part] = []
        for part in try IndexPart.all(of: index, in: database) {
            guard let collation = part.collation else { return nil }
            if part.column == -1 || part.column == rowidAlias {
                parts.append(IndexShape.Part(.rowid, collation, part.direction))
            } else if let place = places[part.column] {
                parts.append(IndexShape.Part(.value(place), collation, part.direction))
            } else {
                return nil
            }
        }
        return parts.isEmpty ? nil : IndexShape(parts)
    }
}

/// One value of an index's entries.
struct IndexPart {
    /// From 0.
    let place: Int
    /// -1 for the rowid, -2 for an expression.
    let column: Int
    let direction: IndexShape.Direction
    /// `nil` for one that is not SQLite's own.
    let collation: IndexShape.Collation?

    static func all(of index: String, in database: Database) throws -> [IndexPart] {
        try Row.fetchAll(
            database, sql: "SELECT seqno, cid, desc, upper(coll) FROM pragma_index_xinfo(?) ORDER BY seqno",
            arguments: [index]
        ).map { row in
            let values = Array(row.databaseValues)
            let names: [String: IndexShape.Collation] = ["BINARY": .binary, "NOCASE": .noCase, "RTRIM": .rightTrim]
            return IndexPart(
                place: Int.fromDatabaseValue(values[0]) ?? 0, column: Int.fromDatabaseValue(values[1]) ?? -2,
                direction: Int.fromDatabaseValue(values[2]) == 1 ? .descending : .ascending,
                collation: names[String.fromDatabaseValue(values[3]) ?? "BINARY"])
        }
    }
}
