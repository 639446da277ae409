import GRDB
import GRDBSQLite
import ShipProtocol
import SystemPackage

/// What is in each table of a copy: the number of its rows, and their digest. One pass over each table, in bounded memory
/// whatever a row weighs.
///
/// Source: `Protocol/README.md` section 4.8.
enum TableContents {
    /// Longest value that SQLite may load, in bytes; longer ones are read in pieces.
    static let longestLoaded: CInt = 1024 * 1024

    /// - Parameters:
    ///   - copy: A file that nobody changes.
    ///   - store: What errors are about.
    ///   - longestLoaded: In bytes; longer values are read in pieces.
    /// - Returns: By the table's name; `nil` if a manifest cannot tell of all of them, or a row is too long to be read as
    ///   its table is.
    static func read(
        _ copy: FilePath, store: FilePath, watch: ConnectionWatch, longestLoaded: CInt = longestLoaded
    ) throws(SnapshotError) -> [ForeignText: TableContent]? {
        let connection = try WatchedConnection(address: copy.string, to: .read, of: store, watch: watch)
        return try connection.read { try all(in: $0, longestLoaded) }
    }

    private static func all(in database: Database, _ longestLoaded: CInt) throws -> [ForeignText: TableContent]? {
        guard let tables = try DescribedTable.all(in: database) else { return nil }
        var contents: [ForeignText: TableContent] = [:]
        for table in tables {
            guard let content = try content(of: table, in: database, longestLoaded) else { return nil }
            contents[ForeignText(table.name)] = content
        }
        return contents
    }

    private static func content(
        of table: DescribedTable, in database: Database, _ longestLoaded: CInt
    ) throws -> TableContent? {
        let usual = sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, longestLoaded)
        defer { sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, usual) }
        var digest = RowDigest()
        var rows: Int64 = 0
        var last: Int64?
        while try !appendRows(of: table, after: &last, &digest, &rows, database) {
            // The next row is too long.
            sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, usual)
            guard let row = try LongRow(after: last, in: table, database), try row.append(to: &digest) else {
                return nil
            }
            sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_LENGTH, longestLoaded)
            rows += 1
            last = row.rowid
        }
        return digest.finish(rows: rows)
    }

    /// Appends rows up to the end of the table, or to one with a value that is too long to be loaded.
    ///
    /// - Parameter last: The rowid of the last row that was appended, if rows have rowids.
    /// - Returns: Whether the end was reached.
    private static func appendRows(
        of table: DescribedTable, after last: inout Int64?, _ digest: inout RowDigest, _ rows: inout Int64,
        _ database: Database
    ) throws -> Bool {
        let query = try database.makeStatement(sql: table.query(isContinued: last != nil))
        if let last { try query.setArguments([last]) }
        let statement = query.sqliteStatement
        let columns = sqlite3_column_count(statement)
        let hasRowid = if case .rowid = table.order { true } else { false }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                for column in 0..<columns { try digest.append(statement, column) }
                if hasRowid { last = sqlite3_column_int64(statement, 0) }
                rows += 1
            case SQLITE_DONE: return true
            case SQLITE_TOOBIG: return false
            case let code:
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
            }
        }
    }
}
