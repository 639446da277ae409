import CoreDataReading
import GRDB
import GRDBSQLite
import StoreFormat
package import SystemPackage

extension LiveConnection {
    /// Whether another store has the same schema, the same rows under the same rowids, and the same numbers of its app: their pages
    /// may differ all the same.
    ///
    /// - Parameter other: Where the other one is; it may be in use.
    package func hasSameRows(as other: FilePath, _ busyHandler: BusyHandler) throws(OperationError) -> Bool {
        // A connection that may only read would leave the files of WAL mode beside the store.
        try LiveConnection(to: other, busyHandler).run { other in
            try queue.unsafeRead { one in try Self.areEqual(one, other, busyHandler) }
        }
    }

    private static func areEqual(_ one: Database, _ other: Database, _ busyHandler: BusyHandler) throws -> Bool {
        // The encoding comes first: texts are compared by their bytes. The numbers of the root pages are the file's own affair.
        let facts = [
            "PRAGMA encoding", "PRAGMA user_version", "PRAGMA application_id",
            "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name",
        ]
        for fact in facts where try !haveSameRows(one, other, fact, busyHandler) { return false }
        let tables = try String.fetchAll(
            one, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
        return try tables.allSatisfy { table in
            // In the order of the table's own b-tree, which a compact copy keeps.
            let rows = "* FROM \(table.quotedSQLName) NOT INDEXED"
            let columns = try String.fetchAll(one, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [table])
            guard let rowid = RowidName.free(beside: columns),
                // A table WITHOUT ROWID has none.
                (try? one.makeStatement(sql: "SELECT \(rowid), \(rows)")) != nil
            else { return try haveSameRows(one, other, "SELECT \(rows)", busyHandler) }
            return try haveSameRows(one, other, "SELECT \(rowid), \(rows)", busyHandler)
        }
    }

    private static func haveSameRows(
        _ one: Database, _ other: Database, _ query: String, _ busyHandler: BusyHandler
    ) throws -> Bool {
        let (left, right) = (try ValueCursor(query, in: one), try ValueCursor(query, in: other))
        while try left.step() {
            try busyHandler.check()
            guard try right.step(), left.hasSameValues(as: right) else { return false }
        }
        return try !right.step()
    }
}

/// The rows of a query, by the types and bytes that SQLite keeps: 1 and 1.0 differ, as do two texts that Swift takes for one.
private struct ValueCursor {
    private let database: Database
    private let statement: Statement
    private var handle: OpaquePointer { statement.sqliteStatement }

    init(_ query: String, in database: Database) throws {
        self.database = database
        statement = try database.makeStatement(sql: query)
    }

    func step() throws -> Bool {
        let code = sqlite3_step(handle)
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
        }
        return code == SQLITE_ROW
    }

    func hasSameValues(as other: ValueCursor) -> Bool {
        let count = sqlite3_column_count(handle)
        return count == sqlite3_column_count(other.handle) && (0..<count).allSatisfy { isSame($0, as: other) }
    }

    private func isSame(_ column: CInt, as other: ValueCursor) -> Bool {
        let type = sqlite3_column_type(handle, column)
        guard type == sqlite3_column_type(other.handle, column) else { return false }
        switch type {
        case SQLITE_NULL: return true
        case SQLITE_INTEGER: return sqlite3_column_int64(handle, column) == sqlite3_column_int64(other.handle, column)
        case SQLITE_FLOAT:
            return sqlite3_column_double(handle, column).bitPattern
                == sqlite3_column_double(other.handle, column).bitPattern
        default:
            // A text too is given as it is kept [sqlite.org/c3ref/column_blob.html].
            return bytes(column).elementsEqual(other.bytes(column))
        }
    }

    private func bytes(_ column: CInt) -> UnsafeRawBufferPointer {
        // Before the count: that is in the encoding that was asked for last.
        let start = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
    }
}
