import Foundation
import GRDB
import GRDBSQLite
package import RandomValues
import StoreFormat
package import SystemPackage
import TestSupport

/// A store as it lies on the disk, open as an app has it.
package final class MadeRandomStore {
    package let path: FilePath
    private let queue: DatabaseQueue

    /// - Parameter path: A file that is not there yet.
    package init(_ store: RandomStore, at path: FilePath) throws {
        self.path = path
        if store.schemaFormat < 4 { try Self.begin(store, at: path) }
        try Self.fill(store, at: path)
        for table in store.tables where table.looseness != nil { try Self.loosen(table, at: path) }
        queue = try Self.open(path)
        for (name, content) in store.files { try write(content, toFile: name) }
    }

    private static func open(_ path: FilePath) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        return try DatabaseQueue(path: path.string, configuration: configuration)
    }

    private static func fill(_ store: RandomStore, at path: FilePath) throws {
        let queue = try open(path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: store.settings + "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
            if store.reservedBytes > 0 {
                var count = CInt(store.reservedBytes)
                sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_RESERVE_BYTES, &count)
            }
            try database.inTransaction {
                for table in store.tables { try Self.make(table, in: database) }
                // What names a table that shrinking took away is left out.
                for statement in store.more { try? database.execute(sql: statement) }
                return .commit
            }
        }
        try queue.close()
    }

    /// A file of an older schema format: SQLite keeps to the format that a file has.
    private static func begin(_ store: RandomStore, at path: FilePath) throws {
        let first = try DatabaseQueue(path: path.string)
        try first.writeWithoutTransaction {
            try $0.execute(sql: store.settings + "CREATE TABLE first (a); DROP TABLE first")
        }
        try first.close()
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path.string))
        try file.seek(toOffset: 47)
        try file.write(contentsOf: Data([UInt8(store.schemaFormat)]))
        try file.close()
    }

    private static func make(_ table: RandomTable, in database: Database) throws {
        try database.execute(sql: table.creation)
        let half = table.rowsBeforeAddedColumns
        try insert(0..<half, of: table, beforeAdding: true, in: database)
        for statement in table.additions { try database.execute(sql: statement) }
        try insert(half..<table.keys.count, of: table, beforeAdding: false, in: database)
        for index in table.indexes { try? database.execute(sql: index.definition) }
    }

    private static func insert(
        _ rows: Range<Int>, of table: RandomTable, beforeAdding: Bool, in database: Database
    ) throws {
        guard !rows.isEmpty else { return }
        let columns = table.storedColumns(beforeAdding: beforeAdding)
        let values = [String](repeating: "?", count: columns.count + 1)
        let statement = try database.makeStatement(sql: table.insertion(columns, values: values))
        for row in rows {
            let cells = table.row(row, columns)
            let room = table.looseRecord(ofRow: row).flatMap { blob(inPlaceOf: $0, table) }
            try run(statement, room.map { [cells[0], .blob($0)] + cells.dropFirst(2).map { _ in .null } } ?? cells)
        }
    }

    // MARK: Records that SQLite would not write

    /// - Returns: A blob that, alone in a row of the table, makes a record of the same size; `nil` if there is none.
    private static func blob(inPlaceOf record: [UInt8], _ table: RandomTable) -> [UInt8]? {
        let nulls = [Cell](repeating: .null, count: table.columns.count - 1)
        func size(_ blob: [UInt8]) -> Int {
            Record.bytes(of: (table.key.isAlias ? [.null] : []) + [.blob(blob)] + nulls).count
        }
        let most = record.count - size([])
        guard most >= 0 else { return nil }
        return (max(0, most - 8)...most).map { [UInt8](repeating: 0, count: $0) }.first { size($0) == record.count }
    }

    /// Writes the records in the place of the blobs.
    private static func loosen(_ table: RandomTable, at path: FilePath) throws {
        let queue = try open(path)
        let root = try queue.read {
            try UInt32.fetchOne($0, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [table.name])
        }
        try queue.close()
        let file = URL(fileURLWithPath: path.string)
        var bytes = [UInt8](try Data(contentsOf: file))
        let pages = try MemoryPages(bytes)
        guard let root else { return }
        var reader = try TreeReader(pages, PageGeometry(try StoreSettings(decoding: bytes)), root: root, kind: .table)
        let rows = Dictionary(uniqueKeysWithValues: zip(table.keys, table.keys.indices))
        while let cell = try reader.next() {
            guard let row = rows[cell.rowid], let record = table.looseRecord(ofRow: row),
                record.count == cell.payloadSize, record.count == cell.localSize
            else { continue }
            let start = (Int(cell.page) - 1) * pages.pageSize + cell.start
            bytes.replaceSubrange(start..<start + record.count, with: record)
        }
        try Data(bytes).write(to: file)
    }

    // MARK: External files

    /// - Parameter name: A UUID.
    private func write(_ content: [UInt8], toFile name: String) throws {
        try FileManager.default.createDirectory(atPath: folder.string, withIntermediateDirectories: true)
        try Data(content).write(to: URL(fileURLWithPath: folder.appending(name).string))
    }

    private var folder: FilePath {
        path.removingLastComponent().appending(".\(path.stem ?? "")_SUPPORT").appending("_EXTERNAL_DATA")
    }

    private static func run(_ statement: Statement, _ cells: [Cell]) throws {
        let handle = statement.sqliteStatement
        sqlite3_reset(handle)
        for (index, cell) in cells.enumerated() { bind(cell, to: CInt(index + 1), of: handle) }
        let result = sqlite3_step(handle)
        guard result == SQLITE_DONE else { throw DatabaseError(resultCode: ResultCode(rawValue: result)) }
    }

    private static func bind(_ cell: Cell, to place: CInt, of statement: SQLiteStatement) {
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        func bytes(_ bytes: [UInt8], isText: Bool) {
            bytes.withUnsafeBytes { buffer in
                // Without an address the value would be NULL.
                let start = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
                if isText {
                    sqlite3_bind_text64(
                        statement, place, start?.assumingMemoryBound(to: CChar.self), sqlite3_uint64(bytes.count),
                        copied,
                        UInt8(SQLITE_UTF8))
                } else if bytes.isEmpty {
                    sqlite3_bind_zeroblob(statement, place, 0)
                } else {
                    sqlite3_bind_blob64(statement, place, start, sqlite3_uint64(bytes.count), copied)
                }
            }
        }
        switch cell {
        case .null: sqlite3_bind_null(statement, place)
        case .integer(let value): sqlite3_bind_int64(statement, place, value)
        case .real(let value): sqlite3_bind_double(statement, place, value)
        case .text(let text): bytes(Array(text.utf8), isText: true)
        case .badText(let text): bytes(text, isText: true)
        case .blob(let blob): bytes(blob, isText: false)
        }
    }

    /// Does what can be done of these steps; one that meets a table or a column that is not there any more does nothing.
    package func run(_ steps: [RandomStep]) {
        queue.writeWithoutTransaction { database in
            for step in steps {
                switch step {
                case .statements(let sql): try? database.execute(sql: sql)
                case .file(let name, let content): try? write(content, toFile: name)
                case .row(let sql, let cells):
                    if let statement = try? database.makeStatement(sql: sql) { try? Self.run(statement, cells) }
                }
            }
        }
    }

    /// - Parameter copy: A file that is not there yet.
    package func vacuum(into copy: FilePath) throws { try queue.vacuum(into: copy.string) }

    package func close() throws { try queue.close() }
}

/// What is done to a store.
package enum RandomStep: Sendable, Codable {
    case statements(String)
    /// A statement for one row, with its values.
    case row(String, [Cell])
    /// An external file, by its UUID.
    case file(String, [UInt8])

    package var sql: String {
        switch self {
        case .statements(let sql): sql
        case .file(let name, let content): "-- \(content.count) bytes in the external file \(name)"
        case .row(let sql, let cells):
            sql.split(separator: "?", omittingEmptySubsequences: false).enumerated().map { index, part in
                index < cells.count ? part + cells[index].sql : String(part)
            }.joined()
        }
    }
}
