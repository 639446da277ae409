package import GRDB
import StoreFormat
package import SystemPackage

/// Whether two stores have the same schema and the same rows: their pages may differ all the same.
package enum RowComparison {
    /// - Parameters:
    ///   - connection: To one of them.
    ///   - other: Where the other one is; it may be in use.
    package static func areEqual(
        _ connection: DatabaseQueue, _ other: FilePath, _ patience: Patience
    ) throws(OperationError) -> Bool {
        // A connection that may only read would leave the files of WAL mode beside the store.
        try LiveConnection(to: other, .shared, patience).run { other in
            try connection.unsafeRead { one in try areEqual(one, other, patience) }
        }
    }

    private static func areEqual(_ one: Database, _ other: Database, _ patience: Patience) throws -> Bool {
        // The numbers of the root pages are the file's own affair.
        let schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        guard try haveSameRows(one, other, schema, patience) else { return false }
        let tables = try String.fetchAll(
            one, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        return try tables.allSatisfy { table in
            // In the order of the table's own b-tree, which a compact copy keeps.
            try haveSameRows(one, other, "SELECT * FROM \(SQLName.quoted(table))", patience)
        }
    }

    private static func haveSameRows(
        _ one: Database, _ other: Database, _ query: String, _ patience: Patience
    ) throws -> Bool {
        let left = try Row.fetchCursor(one, sql: query)
        let right = try Row.fetchCursor(other, sql: query)
        while let row = try left.next() {
            try patience.check()
            guard let counterpart = try right.next(), row == counterpart else { return false }
        }
        return try right.next() == nil
    }
}
