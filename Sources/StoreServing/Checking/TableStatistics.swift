import GRDB
public import ShipProtocol
import StoreFiles
import StoreFormat
package import SystemPackage

/// What one table of a store holds, and what it takes.
public struct TableStatistics: Hashable, Sendable {
    public let name: ForeignText
    /// `nil` for a table that cannot be counted: a virtual table of a module that is not here.
    public let rows: Int64?
    /// The pages of the table and its indexes, in bytes.
    public let size: Int64
    /// About what shipping it takes, in bytes.
    public let cost: Int64
    /// What of that each part takes, the largest first; together as much. None for a table that goes by its pages, and for
    /// one without rows.
    public let parts: [Part]

    /// A part of a table.
    public struct Part: Hashable, Sendable {
        public enum Kind: Hashable, Sendable {
            /// One that is another name for the rowid stands for that.
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

    /// What tables take on the wire.
    package enum Costs {
        /// By their rows, by the table's name: in bytes, and the parts that these are for.
        case byRows([String: (total: Int64, parts: [Part])])
        /// By their pages: what a run of bytes takes, in bytes.
        case byPages(([UInt8]) throws -> Int)

        fileprivate func ofPages(_ bytes: [UInt8]) throws -> Int {
            guard case .byPages(let size) = self else { return 0 }
            return try size(bytes)
        }

        fileprivate func known(_ table: String) -> (total: Int64, parts: [Part])? {
            guard case .byRows(let costs) = self else { return nil }
            return costs[table] ?? (0, [])
        }
    }

    /// Reads a compact copy or a generation, page by page.
    ///
    /// - Parameter costs: What the tables take on the wire.
    /// - Returns: The largest first; `sqlite_schema` among them.
    /// - Throws: `DatabaseError`, `FileError`, and what `costs` throws. `SQLITE_ERROR` if this SQLite was built without
    ///   `dbstat` (sqlite.org/dbstat.html).
    package static func all(
        of path: FilePath, costs: Costs
    ) throws -> [TableStatistics] {
        let file = try OpenFile.readingWithoutFollowing(path)
        let queue = try DatabaseQueue(
            path: StoreAddress.of(path),
            configuration: HardenedConfiguration.make(trust: .unchecked, longestValue: try file.size))
        return try queue.unsafeRead { database in
            var tables: [TableStatistics] = []
            for name in try tableNames(in: database) {
                let (size, pagesCost) = try measure(name, in: database, file, costs)
                let (cost, parts) = costs.known(name) ?? (pagesCost, [])
                // Some virtual tables have no pages of their own, and cannot be counted without their module.
                let rows = try? Int64.fetchOne(database, sql: "SELECT count(*) FROM \(SQLName.quoted(name))")
                tables.append(
                    TableStatistics(
                        name: ForeignText(name), rows: rows, size: size, cost: cost,
                        parts: parts.sorted { ($0.cost, $1.words) > ($1.cost, $0.words) }))
            }
            return tables.sorted { ($0.size, $1.name) > ($1.size, $0.name) }
        }
    }

    private static func tableNames(in database: Database) throws -> [String] {
        ["sqlite_schema"]
            + (try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"))
    }

    /// The pages of a table and of its indexes.
    private static func measure(
        _ table: String, in database: Database, _ file: borrowing OpenFile, _ costs: Costs
    ) throws -> (size: Int64, cost: Int64) {
        var (size, cost): (Int64, Int64) = (0, 0)
        var run: [UInt8] = []
        let pages = try Row.fetchCursor(
            database,
            sql: """
                SELECT pageno, pgsize FROM dbstat
                WHERE name = ?1 OR name IN (SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ?1)
                ORDER BY pageno
                """, arguments: [table])
        while let page = try pages.next() {
            let (number, pageSize): (Int64, Int) = (page["pageno"], page["pgsize"])
            run += try file.read(pageSize, at: (number - 1) * Int64(pageSize))
            size += Int64(pageSize)
            if run.count >= runSize {
                cost += Int64(try costs.ofPages(run))
                run = []
            }
        }
        if !run.isEmpty { cost += Int64(try costs.ofPages(run)) }
        return (size, cost)
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
