import GRDB
import GRDBSQLite

/// A row with a value that is too long to be loaded: its values are asked for one by one, and texts and blobs are read in
/// pieces, with SQLite's incremental I/O [sqlite.org/c3ref/blob_open.html].
struct LongRow {
    let rowid: Int64
    private let table: DescribedTable
    private let database: Database
    private let nameOfRowid: String

    /// Bytes read at a time.
    private static let pieceSize = 64 * 1024

    /// - Parameter last: The rowid of the row before; `nil` for the table's first row.
    /// - Returns: `nil` if there is no such row, rows have no rowid to find them by, or the table has generated columns,
    ///   with which incremental I/O takes one column for another [3.40.1, vdbeblob.c, sqlite3_blob_open].
    init?(after last: Int64?, in table: DescribedTable, _ database: Database) throws {
        guard case .rowid(let name) = table.order, !table.hasGeneratedColumns else { return nil }
        let quoted = table.name.quotedDatabaseIdentifier
        let found = try Int64.fetchOne(
            database,
            sql: """
                SELECT \(name) FROM \(quoted) NOT INDEXED
                \(last == nil ? "" : "WHERE \(name) > ?") ORDER BY \(name) LIMIT 1
                """,
            arguments: last.map { [$0] } ?? [])
        guard let found else { return nil }
        rowid = found
        self.table = table
        self.database = database
        nameOfRowid = name
    }

    /// - Returns: `false` if a value cannot be read in pieces: a text in UTF-16 would have to be converted.
    func append(to digest: inout RowDigest) throws -> Bool {
        let isUTF8 = try String.fetchOne(database, sql: "PRAGMA encoding") == "UTF-8"
        digest.append(integer: rowid)
        for column in table.columns {
            let name = column.quotedDatabaseIdentifier
            // SQLite answers `typeof` without loading the value.
            let query = try database.makeStatement(
                sql: """
                    SELECT typeof(\(name)), CASE WHEN typeof(\(name)) IN ('integer', 'real') THEN \(name) END
                    FROM \(table.name.quotedDatabaseIdentifier) NOT INDEXED WHERE \(nameOfRowid) = ?
                    """)
            guard let row = try Row.fetchOne(query, arguments: [rowid]) else { return false }
            switch (row[0] as String, row[1] as DatabaseValue) {
            case ("text", _) where isUTF8:
                guard try append(column, SQLITE_TEXT, to: &digest) else { return false }
            case ("blob", _): guard try append(column, SQLITE_BLOB, to: &digest) else { return false }
            case ("null", _): digest.appendNull()
            case (_, let value):
                switch value.storage {
                case .int64(let integer): digest.append(integer: integer)
                case .double(let real): digest.append(real: real)
                case .null, .string, .blob: return false
                }
            }
        }
        return true
    }

    private func append(_ column: String, _ storageClass: CInt, to digest: inout RowDigest) throws -> Bool {
        var handle: OpaquePointer?
        defer { sqlite3_blob_close(handle) }
        guard sqlite3_blob_open(database.sqliteConnection, "main", table.name, column, rowid, 0, &handle) == SQLITE_OK
        else { return false }
        let length = sqlite3_blob_bytes(handle)
        digest.begin(storageClass, length: length)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        var offset: CInt = 0
        while offset < length {
            let count = min(CInt(piece.count), length - offset)
            let code = sqlite3_blob_read(handle, piece.baseAddress, count, offset)
            guard code == SQLITE_OK else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
            }
            digest.append(piece: UnsafeRawBufferPointer(rebasing: piece[..<Int(count)]))
            offset += count
        }
        return true
    }
}
