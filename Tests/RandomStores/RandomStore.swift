import RandomValues

/// A store, value by value.
package struct RandomStore: Sendable, Codable {
    package var pageSize = 4096
    package var encoding = "UTF-8"
    package var autoVacuum = "NONE"
    package var reservedBytes = 0
    /// 1 to 4 [sqlite.org/fileformat2.html section 1.3.10].
    package var schemaFormat = 4
    package var tables: [RandomTable]
    /// Statements after the rows.
    package var more: [String] = []
    /// The files to which cells refer, by the UUIDs that they are named by.
    package var files: [String: [UInt8]] = [:]

    package init(tables: [RandomTable]) { self.tables = tables }

    var settings: String {
        "PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(encoding)'; PRAGMA auto_vacuum = \(autoVacuum);\n"
    }

    package var sql: String {
        let remarks = [
            reservedBytes > 0 ? "-- \(reservedBytes) reserved bytes in each page\n" : "",
            schemaFormat < 4 ? "-- schema format \(schemaFormat)\n" : "",
            files.isEmpty ? "" : "-- \(files.count) external files\n",
        ]
        return remarks.joined() + settings + tables.map(\.sql).joined() + more.map { $0 + ";\n" }.joined()
    }
}

/// A table with its rows and indexes.
package struct RandomTable: Sendable, Codable {
    /// What tells its rows apart.
    enum Key: String, Codable, CaseIterable {
        case rowid, alias, autoincrement, entity, integer, descending, text, afterColumn

        var hasRowid: Bool { isAlias || self == .rowid }

        /// Whether a column stands for the rowid, which its record has as NULL.
        var isAlias: Bool { self == .alias || self == .autoincrement || self == .entity }

        /// The column, as a statement names it.
        var name: String { self == .rowid ? "rowid" : self == .entity ? "Z_PK" : "k" }
    }

    struct Column: Codable {
        let name: String
        let declaration: String
        /// None for a generated column.
        var cells: [Cell]
        var isGenerated: Bool { declaration.contains(" AS ") }
    }

    struct Index: Codable {
        let definition: String
        /// The columns without which there is none.
        let columns: [String]
    }

    var name: String
    var key: Key
    /// One for each row, in the order in which they are inserted; no two are the same.
    var keys: [Int64]
    var columns: [Column]
    /// How many of the last columns were added when half of the rows were there.
    var added = 0
    /// The seed by which its records are written as SQLite would not; `nil` for records of SQLite's.
    var looseness: UInt64?
    var indexes: [Index] = []

    package init(named name: String) {
        (self.name, key, keys, columns) = (name, .rowid, [], [])
    }

    var rowsBeforeAddedColumns: Int { added > 0 ? keys.count / 2 : 0 }

    /// The columns that hold values, of all or of those that were there at first.
    func storedColumns(beforeAdding: Bool) -> [Column] {
        columns.prefix(beforeAdding ? columns.count - added : columns.count).filter { !$0.isGenerated }
    }

    var creation: String {
        var parts = columns.prefix(columns.count - added).map { "\($0.name.quoted) \($0.declaration)" }
        switch key {
        case .rowid: break
        case .alias: parts.insert("k INTEGER PRIMARY KEY", at: 0)
        case .autoincrement: parts.insert("k INTEGER PRIMARY KEY AUTOINCREMENT", at: 0)
        case .entity: parts.insert("Z_PK INTEGER PRIMARY KEY", at: 0)
        case .integer: parts = ["k INTEGER"] + parts + ["PRIMARY KEY (k)"]
        case .descending: parts = ["k INTEGER"] + parts + ["PRIMARY KEY (k DESC)"]
        case .text: parts = ["k TEXT"] + parts + ["PRIMARY KEY (k)"]
        case .afterColumn:
            let first = storedColumns(beforeAdding: true).first.map { "\($0.name.quoted), " } ?? ""
            parts = ["k INTEGER"] + parts + ["PRIMARY KEY (\(first)k)"]
        }
        return "CREATE TABLE \(name.quoted) (\(parts.joined(separator: ", ")))\(key.hasRowid ? "" : " WITHOUT ROWID")"
    }

    var additions: [String] {
        columns.suffix(added).map { "ALTER TABLE \(name.quoted) ADD COLUMN \($0.name.quoted) \($0.declaration)" }
    }

    func insertion(_ columns: [Column], values: [String]) -> String {
        let names = [key.name] + columns.map(\.name.quoted)
        return
            "INSERT OR IGNORE INTO \(name.quoted) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
    }

    func cell(ofKey number: Int64) -> Cell { key == .text ? .text("k\(number)") : .integer(number) }

    /// - Returns: The cells of a row, in these columns, after that of its key.
    func row(_ row: Int, _ columns: [Column]) -> [Cell] {
        [cell(ofKey: keys[row])] + columns.map { row < $0.cells.count ? $0.cells[row] : .null }
    }

    /// Loose records have texts in UTF-8. And what SQLite makes a text of a blob that is none in UTF-16 is not always the same.
    mutating func keepToUTF16() {
        looseness = nil
        indexes.removeAll { $0.definition.contains("lower(") || $0.definition.contains("abs(") }
    }

    /// - Returns: The record that a row is to have; `nil` if SQLite writes it.
    func looseRecord(ofRow row: Int) -> [UInt8]? {
        looseness.map { seed in
            let cells = (key.isAlias ? [.null] : []) + self.row(row, columns).dropFirst()
            return Record.loose(cells, Choices(seed: seed &+ UInt64(row)))
        }
    }

    fileprivate var sql: String {
        func rows(_ range: Range<Int>, beforeAdding: Bool) -> String {
            let columns = storedColumns(beforeAdding: beforeAdding)
            return range.map { insertion(columns, values: row($0, columns).map(\.sql)) + ";\n" }.joined()
        }
        let remark = looseness == nil ? "" : "-- The records of this table are wider than they need be.\n"
        return remark + creation + ";\n" + rows(0..<rowsBeforeAddedColumns, beforeAdding: true)
            + additions.map { $0 + ";\n" }.joined() + rows(rowsBeforeAddedColumns..<keys.count, beforeAdding: false)
            + indexes.map { $0.definition + ";\n" }.joined()
    }
}

extension String {
    /// As a name in SQL.
    var quoted: String { "\"\(split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\"" }
}
