import GRDB
import GRDBSQLite
import ShipProtocol
package import StoreFiles
import StoreFormat
package import SystemPackage

/// A compact copy with pages of another size: SQLite's backup API cannot change the page size of a store in WAL mode.
///
/// The value looks at the file that SQLite writes meanwhile. It is used by one thread.
package final class PageSizeChange {
    /// Bytes that are on the disk while it is made, estimated from the size of the copy: its pages, and the pages that are made
    /// of them. It may be more: each table and each index has at least one page.
    package static func room(for copySize: Int64) -> Int64 { 2 * copySize }

    /// - Parameters:
    ///   - copy: In rollback mode; it stays as it is.
    ///   - target: Where the other one is made. Nothing else is written elsewhere.
    ///   - pageSize: In bytes.
    ///   - space: The room that was promised, as above; more is asked for as it is needed.
    /// - Throws: `.noSpace`, `.stopped`, `.file`, `.sqlite`; `.corrupt` about the copy.
    package static func make(
        of copy: FilePath, at target: FilePath, pageSize: Int, in space: DiskReservation, _ busyHandler: BusyHandler
    ) throws(OperationError) {
        // Over a read-only connection VACUUM INTO takes tables with CHECK constraints for others than they are; and VACUUM in
        // place writes to a temporary folder and a journal as well.
        let pages = FilePath(text: target.text + ".pages")
        defer { try? PlatformCalls.removeFile(pages) }
        let size = try OperationError.wrapping { () throws(FileError) in
            try OpenFile.copy(copy, to: pages)
            _ = try OpenFile.creating(target)
            return try PlatformCalls.status(of: pages).size
        }
        space.use(size)
        let change = PageSizeChange(of: target, within: size, space, busyHandler)
        do throws(OperationError) {
            let connection = try LiveConnection(to: pages, busyHandler)
            try withExtendedLifetime(change) { () throws(OperationError) in
                try connection.run { database in
                    sqlite3_progress_handler(
                        database.sqliteConnection, Self.instructions, Self.callback,
                        Unmanaged.passUnretained(change).toOpaque())
                    defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
                    // The page size is that of what VACUUM makes [sqlite.org/pragma.html#pragma_page_size].
                    try database.execute(sql: "PRAGMA synchronous = OFF; PRAGMA page_size = \(pageSize)")
                    try database.execute(sql: SchemaStatements.preparationForVacuum)
                    try database.execute(sql: "VACUUM main INTO ?", arguments: [target.databaseURI])
                    try expectSameSchema(in: target, database)
                }
            }
        } catch {
            if let refusal = change.refusal { throw refusal }
            switch error {
            case .notADatabase: throw .notADatabase(copy)
            case .corrupt(_, let complaint): throw .corrupt(copy, complaint: complaint)
            case .sqlite(_, let complaint) where error.isDamage: throw .corrupt(copy, complaint: complaint)
            default: throw error
            }
        }
    }

    /// What VACUUM INTO leaves out, it leaves out without a word.
    private static func expectSameSchema(in target: FilePath, _ database: Database) throws {
        try database.execute(sql: "ATTACH ? AS made", arguments: [target.databaseURI])
        let lost = try String.fetchOne(
            database,
            sql:
                "SELECT name FROM (SELECT type, name FROM main.sqlite_schema EXCEPT SELECT type, name FROM made.sqlite_schema)"
        )
        try database.execute(sql: "DETACH made")
        guard let lost else { return }
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "VACUUM has left out \(lost)")
    }

    private let path: FilePath
    private let space: DiskReservation
    private let busyHandler: BusyHandler
    private var size: Int64 = 0
    /// Bytes that are promised, and not written.
    private var left: Int64
    private var refusal: OperationError?

    /// Instructions of SQLite's between two looks.
    private static let instructions: CInt = 100
    /// Bytes that are asked for at once.
    private static let step: Int64 = 1024 * 1024

    private init(of path: FilePath, within left: Int64, _ space: DiskReservation, _ busyHandler: BusyHandler) {
        self.path = path
        self.left = left
        self.space = space
        self.busyHandler = busyHandler
    }

    private static let callback: @convention(c) (UnsafeMutableRawPointer?) -> CInt = { context in
        context.map { Unmanaged<PageSizeChange>.fromOpaque($0).takeUnretainedValue().mayGoOn() } == false ? 1 : 0
    }

    private func mayGoOn() -> Bool {
        guard !busyHandler.isStopped else { return false }
        let now = (try? PlatformCalls.status(of: path))?.size ?? size
        guard now > size else { return true }
        let grown = now - size
        do throws(DiskReservation.Refusal) {
            if grown > left {
                try space.extend(by: grown - left + Self.step)
                left = grown + Self.step
            }
        } catch {
            refusal =
                switch error {
                case .tooLittle: .noSpace(folder: path.userFolder, .disk)
                case .file(let error): .file(error)
                }
            return false
        }
        space.use(grown)
        (size, left) = (now, left - grown)
        return true
    }
}
