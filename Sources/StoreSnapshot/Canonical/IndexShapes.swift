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
        var tables: [String: IndexedTable] = [:]
        for row in rows {
            let words = Array(row.databaseValues).compactMap { String.fromDatabaseValue($0) }
            guard words.count == 2 else { continue }
            let table = try tables[words[0]] ?? IndexedTable(words[0], in: database)
            tables[words[0]] = table
            shapes[words[1]] = try table.shape(of: words[1], in: database)
        }
        return shapes
    }
}

/// Where the values of a table's columns are in its records.
private struct IndexedTable {
    /// By the column's number. Generated columns that are not stored are not there.
    private var places: [Int: Int] = [:]
    /// The column that is another name for the rowid.
    private var rowidAlias: Int?

    init(_ name: String, in database: Database) throws {
        let key = try Self.primaryKey(of: name, in: database)
        if try Self.isWithoutRowid(name, in: database), let key {
            // The tree's own order: the key, then all others.
            for part in try IndexPart.all(of: key, in: database) where part.column >= 0 {
                places[part.column] = part.place
            }
            return
        }
        let columns = try Row.fetchAll(
            database, sql: "SELECT cid, pk, hidden, upper(type) FROM pragma_table_xinfo(?) ORDER BY cid",
            arguments: [name])
        var keys: [(column: Int, type: String)] = []
        for column in columns.map({ Array($0.databaseValues) }) {
            guard let number = Int.fromDatabaseValue(column[0]), let hidden = Int.fromDatabaseValue(column[2]) else {
                continue
            }
            // 2: generated, and not stored.
            if hidden != 2 { places[number] = places.count }
            if Int.fromDatabaseValue(column[1]) != 0 {
                keys.append((number, String.fromDatabaseValue(column[3]) ?? ""))
            }
        }
        // INTEGER PRIMARY KEY, unless it has an index of its own [sqlite.org/lang_createtable.html#rowid].
        if keys.count == 1, keys[0].type == "INTEGER", key == nil { rowidAlias = keys[0].column }
    }

    private static func isWithoutRowid(_ name: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", arguments: [name])
            ?? false
    }

    private static func primaryKey(of name: String, in database: Database) throws -> String? {
        try String.fetchOne(
            database, sql: "SELECT name FROM pragma_index_list(?) WHERE origin = 'pk'", arguments: [name])
    }

    /// - Returns: `nil` if the entries do not follow from rows and SQLite's own collations.
    func shape(of index: String, in database: Database) throws -> IndexShape? {
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
private struct IndexPart {
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
