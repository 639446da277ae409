package import GRDB
package import StoreFormat
package import SystemPackage

/// Where the values of a table's columns are in its records, as SQLite says.
///
/// Source: sqlite.org/pragma.html#pragma_table_xinfo; sqlite.org/fileformat2.html section 2.4 for the order of values in a record.
package struct RecordLayout: Sendable {
    /// By the column's number; without generated columns that are not stored.
    private(set) var places: [Int: Int] = [:]
    /// The column that is another name for the rowid.
    private(set) var rowidAlias: Int?
    private var names: [Int: String] = [:]

    /// The layouts of all tables of a file that no longer changes, `sqlite_schema` among them.
    package static func all(inCopyAt path: FilePath) throws(SnapshotError) -> [String: RecordLayout] {
        try WatchedConnection.readingCopy(at: path) { database, _ in
            try all(in: database, try IndexValue.all(in: database))
        }
    }

    /// - Parameter indexes: All of the store's.
    fileprivate static func all(in database: Database, _ indexes: [IndexValue]) throws -> [String: RecordLayout] {
        let keys = Dictionary(grouping: indexes.filter(\.isOfPrimaryKey), by: \.table)
        let columns = try Row.fetchAll(
            database,
            sql: """
                SELECT t.name, x.cid, x.pk, x.hidden, upper(x.type), x.name
                FROM (SELECT name, rowid AS place FROM sqlite_schema WHERE type = 'table' AND rootpage <> 0
                    UNION ALL SELECT 'sqlite_schema', 0) t, pragma_table_xinfo(t.name) x
                ORDER BY t.place, x.cid
                """
        ).compactMap { Column($0) }
        return Dictionary(grouping: columns, by: \.table).mapValues { columns in
            RecordLayout(columns, key: keys[columns[0].table])
        }
    }

    /// A row of `pragma_table_xinfo`.
    private struct Column {
        let table: String
        let number: Int
        let isKey: Bool
        let isStored: Bool
        let isInteger: Bool
        let name: String?

        init?(_ row: Row) {
            let values = Array(row.databaseValues)
            guard let table = String.fromDatabaseValue(values[0]), let number = Int.fromDatabaseValue(values[1]) else {
                return nil
            }
            (self.table, self.number) = (table, number)
            isKey = Int.fromDatabaseValue(values[2]) != 0
            // 2 means generated and not stored.
            isStored = Int.fromDatabaseValue(values[3]) != 2
            isInteger = String.fromDatabaseValue(values[4]) == "INTEGER"
            name = String.fromDatabaseValue(values[5])
        }
    }

    /// - Parameters:
    ///   - columns: In the order of their numbers.
    ///   - key: The index of PRIMARY KEY.
    private init(_ columns: [Column], key: [IndexValue]?) {
        // Each index of another table ends with the rowid. `pragma_table_list` says it too, and compiles each view of the store for that.
        let isWithoutRowid = key?.contains { $0.column == -1 } == false
        if isWithoutRowid, let key {
            // In the order of the tree: the key, then all other columns.
            for (place, part) in key.enumerated() where part.column >= 0 { places[part.column] = place }
        }
        for column in columns {
            names[column.number] = column.name
            if !isWithoutRowid, column.isStored { places[column.number] = places.count }
        }
        // INTEGER PRIMARY KEY, unless it has an index of its own [sqlite.org/lang_createtable.html#rowid].
        let keys = columns.filter(\.isKey)
        if keys.count == 1, keys[0].isInteger, key == nil { rowidAlias = keys[0].number }
    }

    package var rowidColumn: String? { rowidAlias.flatMap { names[$0] } }

    /// The column at a place in a record, counted from 0.
    package func column(at place: Int) -> String? {
        places.first { $0.value == place }.flatMap { names[$0.key] }
    }
}

extension IndexShape {
    /// The shapes of a store's indexes, by the names of the indexes, as SQLite says them. An index that holds expressions, or
    /// that an app's own collation orders, has none.
    package static func all(in database: Database) throws -> [String: IndexShape] {
        let values = try IndexValue.all(in: database)
        let tables = try RecordLayout.all(in: database, values)
        let trees = try Set(
            String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND rootpage <> 0"))
        return Dictionary(grouping: values.filter { trees.contains($0.index) }, by: \.index).compactMapValues {
            values in
            tables[values[0].table]?.shape(of: values)
        }
    }

    /// - Parameter path: A file that no longer changes.
    package static func all(inCopyAt path: FilePath) throws(SnapshotError) -> [String: IndexShape] {
        try WatchedConnection.readingCopy(at: path) { database, _ in try all(in: database) }
    }
}

extension RecordLayout {
    /// - Parameter values: Of one index.
    /// - Returns: `nil` if the entries do not follow from rows and SQLite's own collations.
    fileprivate func shape(of values: [IndexValue]) -> IndexShape? {
        var parts: [IndexShape.Part] = []
        for value in values {
            guard let collation = value.collation else { return nil }
            if value.column == -1 || value.column == rowidAlias {
                parts.append(IndexShape.Part(nil, collation, isDescending: value.isDescending))
            } else if let place = places[value.column] {
                parts.append(IndexShape.Part(place, collation, isDescending: value.isDescending))
            } else {
                return nil
            }
        }
        return IndexShape(parts)
    }
}
