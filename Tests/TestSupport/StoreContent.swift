import Foundation
package import GRDB
package import SystemPackage

/// All rows of a store, schema included, in an order of their own: equal stores have equal content.
package struct StoreContent: Equatable {
    /// Name of a table to its rows.
    package let tables: [String: [String]]

    /// Opens the store read-only, and closes it again.
    package init(of path: FilePath) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.acceptsDoubleQuotedStringLiterals = true
        let queue = try DatabaseQueue(path: path.string, configuration: configuration)
        defer { try? queue.close() }
        self = try queue.unsafeRead { try StoreContent($0) }
    }

    package init(_ database: Database) throws {
        let names = try String.fetchAll(
            database,
            sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%USING apps%' ORDER BY name")
        var tables = ["sqlite_schema": try Self.rows(database, "SELECT type, name, tbl_name, sql FROM sqlite_schema")]
        for name in names where !name.hasPrefix("sqlite_stat") {
            tables[name] = try Self.rows(database, #"SELECT * FROM "\#(name.replacing("\"", with: "\"\""))""#)
        }
        self.tables = tables
    }

    private static func rows(_ database: Database, _ query: String) throws -> [String] {
        try Row.fetchAll(database, sql: query).map { row in
            row.map { column, value in "\(column)=\(text(value))" }.joined(separator: "|")
        }.sorted()
    }

    private static func text(_ value: DatabaseValue) -> String {
        switch value.storage {
        case .blob(let data): "x" + data.base64EncodedString()
        default: value.description
        }
    }
}
