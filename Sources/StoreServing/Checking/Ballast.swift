import CoreDataReading
import GRDB
public import ShipProtocol
import StoreFiles
package import SystemPackage

/// Content of a store that is not the app's data: readers of a copy may do without it.
public struct Ballast: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Core Data's persistent history, by which apps follow changes.
        case history
        /// Core Data's copy of the model, for migrations.
        case modelCache
        /// The index of a table for full text, which can be made again of the rows.
        case fullTextIndex(of: ForeignText)
        /// The notes of `ANALYZE` for SQLite's query planner.
        case statistics
    }

    public let kind: Kind
    /// The tables that hold it.
    public let tables: [ForeignText]
    /// About what shipping it takes, in bytes.
    public let cost: Int64
}

extension Ballast {
    /// - Returns: The dearest first; none that has no rows.
    package static func all(
        in tables: [TableStatistics], ofCopyAt path: FilePath, isCoreData: Bool
    ) throws -> [Ballast] {
        var known: [(kind: Kind, names: [String])] = []
        if isCoreData {
            known.append((.history, CoreDataLayout.history))
            known.append((.modelCache, [CoreDataLayout.modelCache]))
        }
        known.append((.statistics, ["sqlite_stat1", "sqlite_stat2", "sqlite_stat3", "sqlite_stat4"]))
        known += try fullTextIndexes(inCopyAt: path)
        let found = known.map { kind, names in
            let held = tables.filter { names.contains($0.name.unescaped) && $0.rows != 0 }
            return Ballast(kind: kind, tables: held.map(\.name).sorted(), cost: held.reduce(0) { $0 + $1.cost })
        }
        return found.filter { !$0.tables.isEmpty }.sorted { ($0.cost, $1.tables[0]) > ($1.cost, $0.tables[0]) }
    }

    /// The shadow tables that hold an index and no content, by SQLite's own modules for full text.
    ///
    /// Source: sqlite.org/fts3.html section 9.1 and sqlite.org/fts5.html section 9.
    private static let shadowEndings = [
        "fts3": ["segments", "segdir"], "fts4": ["segments", "segdir", "docsize", "stat"],
        "fts5": ["data", "idx", "docsize"],
    ]

    private static func fullTextIndexes(inCopyAt path: FilePath) throws -> [(kind: Kind, names: [String])] {
        let size = try OpenFile.readingWithoutFollowing(path).size
        let queue = try DatabaseQueue(
            path: path.settledDatabaseURI,
            configuration: Configuration.hardened(trust: .unchecked, longestValue: size))
        let virtual = try queue.unsafeRead { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT name, sql FROM sqlite_schema
                    WHERE type = 'table' AND rootpage = 0 AND typeof(name) = 'text' AND typeof(sql) = 'text'
                    """)
        }
        return virtual.compactMap { row in
            let table: String = row["name"]
            return shadows(ofTableDefinedBy: row["sql"]).map { endings in
                (.fullTextIndex(of: ForeignText(table)), endings.map { "\(table)_\($0)" })
            }
        }
    }

    /// - Returns: `nil` for another module, and for an index without content from which it could be made again.
    private static func shadows(ofTableDefinedBy definition: String) -> [String]? {
        let definition = definition.lowercased().filter { !$0.isWhitespace }
        guard
            let endings = shadowEndings.first(where: { module, _ in
                definition.hasSuffix("using\(module)") || definition.contains("using\(module)(")
            })?.value,
            !definition.contains("content=''"), !definition.contains(#"content="""#)
        else { return nil }
        return endings
    }
}
