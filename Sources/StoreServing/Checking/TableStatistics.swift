import CoreDataReading
import GRDB
public import ShipProtocol
import StoreFiles
package import SystemPackage

/// The content and the size of one table of a store.
public struct TableStatistics: Hashable, Sendable {
    public let name: ForeignText
    /// `nil` for a table that cannot be counted: a virtual table of a module that is not here.
    public let rows: Int64?
    /// The pages of the table and its indexes, in bytes.
    public let size: Int64
    /// About what shipping it takes, in bytes.
    public let cost: Int64
    /// How much of that each part takes, the largest first; their sum is `cost`. Empty for a table that is shipped by its pages,
    /// and for one without rows.
    public let parts: [Part]

    /// A part of a table.
    public struct Part: Hashable, Sendable {
        public enum Kind: Hashable, Sendable {
            /// A column that is another name for the rowid stands for the rowid.
            case column(ForeignText)
            case rowids
            /// Rows that are too long to be taken apart.
            case longRows
            /// Entries of indexes that do not follow from the rows.
            case indexes
        }

        public let kind: Kind
        /// About what shipping it takes, in bytes.
        public let cost: Int64

        package init(_ kind: Kind, cost: Int64) {
            self.kind = kind
            self.cost = cost
        }
    }
}

extension TableStatistics {
    /// Bytes of pages that are estimated together.
    private static let runSize = 256 * 1024

    /// Reads a compact copy or a generation, page by page.
    ///
    /// - Parameters:
    ///   - rowCosts: What the rows of each table take on the wire, in bytes, by the table's name, and the parts that these are
    ///     for; `nil` if tables are shipped by their pages.
    ///   - pageCost: What a run of pages takes on the wire, in bytes, if tables are shipped by their pages.
    /// - Returns: The largest first; `sqlite_schema` among them.
    /// - Throws: `DatabaseError`, `FileError`, and what `pageCost` throws. `SQLITE_ERROR` if this SQLite was built without
    ///   `dbstat` (sqlite.org/dbstat.html).
    package static func all(
        of path: FilePath, rowCosts: [String: (total: Int64, parts: [Part])]?, pageCost: ([UInt8]) throws -> Int
    ) throws -> [TableStatistics] {
        let file = try OpenFile.readingWithoutFollowing(path)
        let queue = try DatabaseQueue(
            path: path.settledDatabaseURI,
            configuration: Configuration.hardened(trust: .unchecked, longestValue: try file.size))
        return try queue.unsafeRead { database in
            let (pageSize, pages) = try pagesOfTables(in: database)
            var tables: [TableStatistics] = []
            for name in try tableNames(in: database) {
                let pages = pages[name] ?? []
                let (cost, parts) =
                    try rowCosts.map { $0[name] ?? (0, []) } ?? (
                        try Self.cost(of: pages, pageSize: pageSize, in: file, pageCost), []
                    )
                // Some virtual tables have no pages of their own, and cannot be counted without their module.
                let rows = try? Int64.fetchOne(database, sql: "SELECT count(*) FROM \(name.quotedSQLName)")
                tables.append(
                    TableStatistics(
                        name: ForeignText(name), rows: rows, size: Int64(pages.count * pageSize), cost: cost,
                        parts: parts.sorted { ($0.cost, $1.words) > ($1.cost, $0.words) }))
            }
            return tables.sorted { ($0.size, $1.name) > ($1.size, $0.name) }
        }
    }

    private static func tableNames(in database: Database) throws -> [String] {
        ["sqlite_schema"]
            + (try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"))
    }

    /// The pages of each table and of its indexes. It is one pass over the store: for each query `dbstat` reads all pages.
    private static func pagesOfTables(in database: Database) throws -> (pageSize: Int, pages: [String: [UInt32]]) {
        var tables: [String: String] = [:]
        let indexes = "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index' AND rootpage <> 0"
        for values in try Row.fetchAll(database, sql: indexes).map({ Array($0.databaseValues) }) {
            if let index = String.fromDatabaseValue(values[0]) { tables[index] = String.fromDatabaseValue(values[1]) }
        }
        var pages: [String: [UInt32]] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT name, pageno FROM dbstat")
        while let values = try rows.next().map({ Array($0.databaseValues) }) {
            guard let tree = String.fromDatabaseValue(values[0]), let number = UInt32.fromDatabaseValue(values[1])
            else {
                continue
            }
            pages[tables[tree] ?? tree, default: []].append(number)
        }
        return (try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0, pages)
    }

    private static func cost(
        of pages: [UInt32], pageSize: Int, in file: borrowing OpenFile, _ costOfRun: ([UInt8]) throws -> Int
    ) throws -> Int64 {
        var cost: Int64 = 0
        var run: [UInt8] = []
        for number in pages.sorted() {
            run += try file.read(pageSize, at: Int64(number - 1) * Int64(pageSize))
            if run.count >= runSize {
                cost += Int64(try costOfRun(run))
                run = []
            }
        }
        return run.isEmpty ? cost : cost + Int64(try costOfRun(run))
    }
}

extension TableStatistics.Part {
    /// For people: a column's name, or in parentheses what else it is.
    public var words: ForeignText {
        switch kind {
        case .column(let name): name
        case .rowids: "(rowids)"
        case .longRows: "(long rows)"
        case .indexes: "(indexes)"
        }
    }
}
