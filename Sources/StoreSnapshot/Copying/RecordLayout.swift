package import GRDB
import StoreFiles
package import StoreFormat
package import SystemPackage

/// Where the values of a table's columns are in its records, as SQLite says.
///
/// Source: sqlite.org/pragma.html#pragma_table_xinfo; sqlite.org/fileformat2.html section 2.4 for the order of values in a
/// record.
package struct RecordLayout: Sendable {
    /// By the column's number; without generated columns that are not stored.
    private(set) var places: [Int: Int] = [:]
    /// The column that is another name for the rowid.
    private(set) var rowidAlias: Int?
    private var names: [Int: String] = [:]

    /// The layouts of all tables, `sqlite_schema` among them.
    ///
    /// - Parameter path: A file that no longer changes.
    package static func all(inCopyAt path: FilePath) throws(SnapshotError) -> [String: RecordLayout] {
        try WatchedConnection.readingCopy(at: path) { database, _ in
            let tables = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage <> 0")
            return try Dictionary((tables + ["sqlite_schema"]).map { ($0, try RecordLayout(of: $0, in: database)) }) {
                first, _ in first
            }
        }
    }

    init(of table: String, in database: Database) throws {
        let key = try Self.primaryKey(of: table, in: database)
        let isWithoutRowid = try Self.isWithoutRowid(table, in: database)
        if isWithoutRowid, let key {
            // In the order of the tree: the key, then all other columns.
            for (place, part) in try IndexShape.parts(of: key, in: database).enumerated() where part.column >= 0 {
                places[part.column] = place
            }
        }
        let columns = try Row.fetchAll(
            database, sql: "SELECT cid, pk, hidden, upper(type), name FROM pragma_table_xinfo(?) ORDER BY cid",
            arguments: [table])
        var keys: [(column: Int, type: String)] = []
        for column in columns.map({ Array($0.databaseValues) }) {
            guard let number = Int.fromDatabaseValue(column[0]), let hidden = Int.fromDatabaseValue(column[2]) else {
                continue
            }
            names[number] = String.fromDatabaseValue(column[4])
            // 2 means generated and not stored.
            if !isWithoutRowid, hidden != 2 { places[number] = places.count }
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

    /// The column that is another name for the rowid.
    package var rowidColumn: String? { rowidAlias.flatMap { names[$0] } }

    /// The column at a place in a record, counted from 0.
    package func column(at place: Int) -> String? {
        places.first { $0.value == place }.flatMap { names[$0.key] }
    }
}

extension IndexShape {
    /// The shapes of a store's indexes, by the names of the indexes, as SQLite says them. An index that holds expressions, or
    /// that an app's own collation orders, has none.
    ///
    /// Source: sqlite.org/pragma.html#pragma_index_xinfo.
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

    /// - Parameter path: A file that no longer changes.
    package static func all(inCopyAt path: FilePath) throws(SnapshotError) -> [String: IndexShape] {
        try WatchedConnection.readingCopy(at: path) { database, _ in try all(in: database) }
    }

    /// The values of an index's entries, in their order. The column is -1 for the rowid, and -2 for an expression; there is no collation
    /// where it is not SQLite's own.
    fileprivate static func parts(
        of index: String, in database: Database
    ) throws -> [(column: Int, collation: Collation?, isDescending: Bool)] {
        try Row.fetchAll(
            database, sql: "SELECT cid, upper(coll), desc FROM pragma_index_xinfo(?) ORDER BY seqno",
            arguments: [index]
        ).map { row in
            let values = Array(row.databaseValues)
            return (
                Int.fromDatabaseValue(values[0]) ?? -2,
                Collation(sqlName: String.fromDatabaseValue(values[1]) ?? "BINARY"),
                Int.fromDatabaseValue(values[2]) == 1
            )
        }
    }
}

extension IndexShape.Collation {
    /// - Parameter name: In capitals.
    /// - Returns: `nil` for a collation that is not SQLite's own.
    init?(sqlName name: String) {
        switch name {
        case "BINARY": self = .binary
        case "NOCASE": self = .noCase
        case "RTRIM": self = .rightTrim
        default: return nil
        }
    }
}

extension RecordLayout {
    /// - Returns: `nil` if the entries do not follow from rows and SQLite's own collations.
    fileprivate func shape(of index: String, in database: Database) throws -> IndexShape? {
        var parts: [IndexShape.Part] = []
        for part in try IndexShape.parts(of: index, in: database) {
            guard let collation = part.collation else { return nil }
            if part.column == -1 || part.column == rowidAlias {
                parts.append(IndexShape.Part(nil, collation, isDescending: part.isDescending))
            } else if let place = places[part.column] {
                parts.append(IndexShape.Part(place, collation, isDescending: part.isDescending))
            } else {
                return nil
            }
        }
        return parts.isEmpty ? nil : IndexShape(parts)
    }
}
