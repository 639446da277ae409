package import GRDB

/// A change of a store, chosen at random: what apps and their migrations do to stores. It works on any store.
package struct RandomChange {
    package enum Kind: String, CaseIterable, Sendable {
        case insertRows, deleteRows, deleteFirstRows, editValues, moveValues, growRow, shrinkRow, renumberRows, syncRows
        case addColumn, dropColumn, renameColumn, moveColumns
        case renameTable, swapTables, remakeTable, copyTable, dropTable, newTable
        case addIndexes, dropIndex
        case settings
    }

    package let kind: Kind
    package let sql: String

    /// Whether the rows are the same before and after, but for their places and columns.
    package var keepsRows: Bool {
        switch kind {
        case .dropColumn, .renameColumn, .renameTable, .swapTables, .dropTable, .dropIndex, .settings: true
        // What `CREATE TABLE AS` makes has rowids of its own.
        case .moveColumns, .remakeTable, .copyTable: hadPlainRowids
        case .insertRows, .deleteRows, .deleteFirstRows, .editValues, .moveValues, .growRow, .shrinkRow, .renumberRows,
            .syncRows, .addColumn, .newTable, .addIndexes:
            false
        }
    }

    /// Whether all tables had rowids before, which no column stands for.
    private let hadPlainRowids: Bool

    /// A table of the store that SQL can change.
    private struct Table {
        let name: String
        let quoted: String
        /// Without generated ones.
        let columns: [(name: String, isKey: Bool)]
        let hasRowid: Bool
        private let hasIntegerKey: Bool

        init(_ row: Row, in database: Database) throws {
            name = row["name"]
            quoted = name.quotedDatabaseIdentifier
            hasRowid = row["wr"] == 0
            let all = try Row.fetchAll(
                database, sql: "SELECT * FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [name])
            columns = all.map { ($0["name"], $0["pk"] != 0) }
            hasIntegerKey = all.contains { $0["pk"] != 0 && $0["type"] == "INTEGER" }
        }

        var hasPlainRowids: Bool { hasRowid && !hasIntegerKey }

        var plain: [String] { columns.filter { !$0.isKey }.map(\.name.quotedDatabaseIdentifier) }

        /// A condition for one row in `count`, from all over the table.
        func every(_ count: Int, _ random: inout RepeatableRandom) -> String {
            let first = columns[0].name.quotedDatabaseIdentifier
            let number = hasRowid ? "rowid" : "coalesce(length(\(first)), 0) + unicode(hex(\(first)))"
            return "(\(number)) * 2654435761 % 65521 % \(count) = \(Int.random(in: 0..<count, using: &random))"
        }
    }

    /// Makes a change.
    ///
    /// - Returns: `nil` if the store does not allow the change that was chosen: it is as it was then.
    package static func made(
        in database: Database, _ random: inout RepeatableRandom, kinds: [Kind] = Kind.allCases
    ) throws -> RandomChange? {
        let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
        let tables = try tables(of: database)
        guard let sql = try sql(kind, tables, in: database, &random) else { return nil }
        do {
            try database.execute(sql: kind == .settings ? sql : "SAVEPOINT change; \(sql); RELEASE change")
            return RandomChange(kind: kind, sql: sql, hadPlainRowids: tables.allSatisfy(\.hasPlainRowids))
        } catch is DatabaseError {
            try? database.execute(sql: "ROLLBACK TO change; RELEASE change")
            return nil
        }
    }

    private static func tables(of database: Database) throws -> [Table] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT name, wr FROM pragma_table_list
                WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
                """
        ).map { try Table($0, in: database) }.filter { !$0.columns.isEmpty }
    }

    private static func sql(
        _ kind: Kind, _ tables: [Table], in database: Database, _ random: inout RepeatableRandom
    ) throws -> String? {
        if kind == .settings {
            return [
                "PRAGMA page_size = \(512 << Int.random(in: 0...7, using: &random)); VACUUM",
                "PRAGMA auto_vacuum = \(Int.random(in: 0...2, using: &random)); VACUUM",
                "PRAGMA user_version = \(Int.random(in: 0...99, using: &random)); PRAGMA application_id = 7",
            ][Int.random(in: 0...2, using: &random)]
        }
        let fresh = "new_\(Int.random(in: 0...999_999, using: &random))"
        if kind == .newTable {
            let words = (0..<20).map { _ in "('\(Int.random(in: 0...9_999_999, using: &random))', zeroblob(9))" }
            return "CREATE TABLE \(fresh)(a, b); INSERT INTO \(fresh) VALUES \(words.joined(separator: ", "))"
        }
        guard let table = tables.randomElement(using: &random) else { return nil }
        let name = table.quoted
        let every = table.every([1, 2, 9, 60][Int.random(in: 0...3, using: &random)], &random)
        let column = table.plain.randomElement(using: &random)
        switch kind {
        case .settings, .newTable: return nil
        case .insertRows: return Self.insertion(into: table, every)
        case .deleteRows: return "DELETE FROM \(name) WHERE \(every)"
        case .deleteFirstRows:
            return table.hasRowid
                ? "DELETE FROM \(name) WHERE rowid < (SELECT (3 * min(rowid) + max(rowid)) / 4 FROM \(name))" : nil
        case .moveValues: return column.flatMap { moved($0, of: table, &random) }
        case .syncRows: return synced(table, table.plain.first, &random)
        case .editValues: return column.map { "UPDATE \(name) SET \($0) = \(edited($0, &random)) WHERE \(every)" }
        case .growRow:
            let size = [40_000, 262_100, 300_000, 700_000][Int.random(in: 0...3, using: &random)]
            return column.map { column in
                "UPDATE \(name) SET \(column) = \(text(size, &random)) || coalesce(\(column), '') WHERE \(oneRow(of: table))"
            }
        case .shrinkRow:
            return column.map { column in
                "UPDATE \(name) SET \(column) = substr(\(column), 1, length(\(column)) * 2 / 3) WHERE length(\(column)) > 30000"
            }
        case .renumberRows:
            return table.hasRowid
                ? "UPDATE \(name) SET rowid = rowid + \(Int.random(in: 1...3_000_000, using: &random))" : nil
        case .addColumn:
            return
                "ALTER TABLE \(name) ADD COLUMN \(fresh) \(["", "DEFAULT 5", "TEXT DEFAULT 'none'"][Int.random(in: 0...2, using: &random)])"
        case .dropColumn: return column.map { "ALTER TABLE \(name) DROP COLUMN \($0)" }
        case .renameColumn: return column.map { "ALTER TABLE \(name) RENAME COLUMN \($0) TO \(fresh)" }
        case .moveColumns:
            let columns = table.columns.map(\.name.quotedDatabaseIdentifier).shuffled(using: &random).joined(
                separator: ", ")
            return remade(table, as: columns, fresh, finally: "ALTER TABLE \(fresh) RENAME TO \(name)")
        case .renameTable: return "ALTER TABLE \(name) RENAME TO \(fresh)"
        case .swapTables:
            guard let other = tables.filter({ $0.name != table.name }).randomElement(using: &random) else { return nil }
            return """
                ALTER TABLE \(name) RENAME TO \(fresh); ALTER TABLE \(other.quoted) RENAME TO \(name);
                ALTER TABLE \(fresh) RENAME TO \(other.quoted)
                """
        case .remakeTable: return remade(table, as: "*", fresh, finally: "SELECT 1")
        case .copyTable: return "CREATE TABLE \(fresh) AS SELECT * FROM \(name)"
        case .dropTable: return "DROP TABLE \(name)"
        case .addIndexes:
            // Of more than 128 indexes some neither merge nor follow.
            let count = [1, 2, 70, 140][[0, 0, 0, 0, 0, 0, 1, 1, 2, 3][Int.random(in: 0...9, using: &random)]]
            return (0..<count).compactMap { number in
                table.columns.randomElement(using: &random).map { column in
                    let order = ["", " DESC", " COLLATE NOCASE"][Int.random(in: 0...2, using: &random)]
                    let part =
                        Int.random(in: 0...5, using: &random) == 0
                        ? " WHERE length(\(column.name.quotedDatabaseIdentifier)) > 3" : ""
                    return
                        "CREATE INDEX \(fresh)_\(number) ON \(name)(\(column.name.quotedDatabaseIdentifier)\(order))\(part)"
                }
            }.joined(separator: "; ")
        case .dropIndex:
            let indexes = try String.fetchAll(
                database, sql: "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
            return indexes.randomElement(using: &random).map { "DROP INDEX \($0.quotedDatabaseIdentifier)" }
        }
    }

    private static func remade(_ table: Table, as columns: String, _ fresh: String, finally: String) -> String {
        """
        CREATE TABLE \(fresh) AS SELECT \(columns) FROM \(table.quoted); DROP TABLE \(table.quoted); \(finally)
        """
    }

    /// The values of a column, each in the row of another key: in the next one, or in any.
    private static func moved(_ column: String, of table: Table, _ random: inout RepeatableRandom) -> String? {
        guard table.hasRowid else { return nil }
        let order = order(&random)
        return """
            CREATE TEMP TABLE moved AS SELECT rowid AS r, coalesce(lead(\(column)) OVER o, first_value(\(column)) OVER o) AS v
            FROM \(table.quoted) WINDOW o AS (ORDER BY \(order));
            UPDATE \(table.quoted) SET \(column) = (SELECT v FROM temp.moved WHERE r = \(table.quoted).rowid); DROP TABLE temp.moved
            """
    }

    /// All rows anew, under other keys and with another value in the first column that is no key, as an app writes what it fetched.
    private static func synced(_ table: Table, _ column: String?, _ random: inout RepeatableRandom) -> String? {
        guard table.hasRowid else { return nil }
        let (order, names) = (order(&random), table.columns.map(\.name.quotedDatabaseIdentifier))
        let values = zip(table.columns, names).map { other, name in
            guard other.isKey else { return name == column ? "\(edited(name, &random)) AS \(name)" : name }
            return "CASE typeof(\(name)) WHEN 'integer' THEN 9000000 + row_number() OVER o ELSE \(name) || 's' END"
        }
        return """
            CREATE TEMP TABLE synced AS SELECT \(values.joined(separator: ", ")) FROM \(table.quoted)
            WINDOW o AS (ORDER BY \(order)) ORDER BY \(order);
            DELETE FROM \(table.quoted);
            INSERT INTO \(table.quoted)(\(names.joined(separator: ", "))) SELECT * FROM temp.synced; DROP TABLE temp.synced
            """
    }

    /// That of the rowids, or another one.
    private static func order(_ random: inout RepeatableRandom) -> String {
        ["rowid", "rowid * 2654435761 % 65521"][Int.random(in: 0...1, using: &random)]
    }

    /// Copies of rows, with other keys.
    private static func insertion(into table: Table, _ every: String) -> String {
        let names = table.columns.map(\.name.quotedDatabaseIdentifier)
        let values = zip(table.columns, names).map { column, name in
            column.isKey ? "CASE typeof(\(name)) WHEN 'integer' THEN \(name) + 7000001 ELSE \(name) || 'k' END" : name
        }
        return """
            INSERT OR IGNORE INTO \(table.quoted)(\(names.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM \(table.quoted) WHERE \(every) LIMIT 500
            """
    }

    /// The value of a column, changed a little.
    private static func edited(_ column: String, _ random: inout RepeatableRandom) -> String {
        let number = Int.random(in: 1...1_000_000, using: &random)
        return """
            CASE typeof(\(column)) WHEN 'integer' THEN \(column) + \(number % 3 * number + 1) WHEN 'real' THEN \(column) + 0.25
            WHEN 'text' THEN substr(\(column), 1, length(\(column)) / 2) || '\(number)' || substr(\(column), length(\(column)) / 2 + 1)
            WHEN 'blob' THEN CAST(substr(\(column), 1, 5) || x'07' || substr(\(column), 6) AS BLOB) ELSE \(number) END
            """
    }

    private static func oneRow(of table: Table) -> String {
        let key = table.hasRowid ? "rowid" : table.columns.first { $0.isKey }?.name.quotedDatabaseIdentifier ?? "1"
        return "\(key) = (SELECT max(\(key)) FROM \(table.quoted))"
    }

    /// Digits without order.
    private static func text(_ size: Int, _ random: inout RepeatableRandom) -> String {
        "x'" + random.bytes(size).map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined() + "'"
    }
}
