import CoreDataReading
import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import StoreInbox

/// A generation's store while its rows are compared. It stays for as long as this value lives, whatever is pruned.
final class ComparedStore {
    private struct Pruned: Error {}

    /// How long SQLite may take over the schema, one table's columns, or the entities.
    private static let patience = Duration.seconds(10)

    private let hold: FolderLock
    private let pages: PageFile
    private let database: DatabaseQueue
    private let geometry: PageGeometry
    /// By their names.
    private let trees: [ForeignText: SchemaTrees.Tree]
    let settings: StoreSettings

    /// - Parameter check: Called before each page is read; throws to end the work.
    /// - Throws: `FileError`, `StoreFlaw`, `DatabaseError`; `Pruned` while it is being pruned.
    init(_ generation: Generation, check: @escaping () throws -> Void) throws {
        guard let hold = try FolderLock.takeSoon(.shared, on: generation.path) else { throw Pruned() }
        self.hold = hold
        pages = try PageFile(reading: generation.storePath, check: check)
        database = try DatabaseQueue(
            path: generation.storePath.settledDatabaseURI,
            configuration: .hardened(trust: .checked, longestValue: pages.size))
        let trees = try StoreTrees(pages)
        settings = trees.settings
        geometry = PageGeometry(settings)
        let encoding = trees.settings.textEncoding
        self.trees = Dictionary(grouping: try trees.schema().tables) { ForeignText($0.text(encoding)) }
            .compactMapValues { $0.count == 1 ? $0.first : nil }
    }

    /// A cursor over the rows of a table; `nil` if there is no such table.
    func rows(of table: ForeignText) throws -> StoreFormat.RowCursor? {
        try trees[table].map { try StoreFormat.RowCursor(pages, geometry, root: $0.root) }
    }

    /// How many rows a table has.
    ///
    /// - Throws: `DatabaseError`, also where it takes too long.
    func count(of table: ForeignText) throws -> Int64? {
        try read { try Int64.fetchOne($0, sql: "SELECT count(*) FROM \(table.unescaped.quotedSQLName)") }
    }

    /// - Throws: `DatabaseError`, also where it takes too long.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try database.unsafeRead { database in
            try CheckDeadline.enforce(Self.patience, on: database) { try body(database) }
        }
    }

    /// The digests of the statements that made the tables, by the tables' names.
    func declarations() throws -> [ForeignText: ContentDigest] {
        try read { database in
            let rows = try Row.fetchCursor(database, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
            var declarations: [ForeignText: ContentDigest] = [:]
            while let row = try rows.next() {
                guard let name = String.fromDatabaseValue(row[0]), let sql = String.fromDatabaseValue(row[1]) else {
                    continue
                }
                declarations[ForeignText(name)] = ContentDigest(hashing: Array(sql.utf8))
            }
            return declarations
        }
    }

    func hasTable(_ name: String) -> Bool { trees[ForeignText(name)] != nil }
}
