import CoreDataReading
import GRDB
public import ShipProtocol
import StoreFiles
import StoreFormat
package import SystemPackage

/// What a store carries that is not the app's data: whoever reads a copy may do without it.
public struct Ballast: Hashable, Sendable {
    public enum Kind: Hashable, Sendable {
        /// Core Data's persistent history, for whoever follows changes.
        case history
        /// Core Data's copy of the model, for migrations.
        case modelCache
        /// The index of a table for full text, which can be made again of the rows.
        case fullTextIndex(of: ForeignText)
        /// What `ANALYZE` has noted for SQLite's query planner.
        case statistics
    }

    public let kind: Kind
    /// The tables that hold it.
    public let tables: [ForeignText]
    /// About what shipping it takes, in bytes.
    public let cost: Int64

    /// Whether a `CopyProfile` can leave it out.
    public var canBeLeftOut: Bool { kind == .history }
}

extension Ballast {
    /// - Parameters:
    ///   - tables: Those of the copy.
    ///   - isCoreData: Whether Core Data has made it.
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
        for index in try FullTextIndex.all(inCopyAt: path) {
            known.append((.fullTextIndex(of: ForeignText(index.table)), index.shadows))
        }
        let found = known.map { kind, names in
            let held = tables.filter { names.contains($0.name.unescaped) && $0.rows != 0 }
            return Ballast(kind: kind, tables: held.map(\.name).sorted(), cost: held.reduce(0) { $0 + $1.cost })
        }
        return found.filter { !$0.tables.isEmpty }.sorted { ($0.cost, $1.tables[0]) > ($1.cost, $0.tables[0]) }
    }
}

/// The tables behind a virtual one of SQLite's own modules for full text.
///
/// Source: sqlite.org/fts3.html section 9.1 and sqlite.org/fts5.html section 9, for what is an index and what is content.
private struct FullTextIndex {
    let table: String
    /// Those that hold no content.
    let shadows: [String]

    private static let endings = [
        "fts3": ["segments", "segdir"], "fts4": ["segments", "segdir", "docsize", "stat"],
        "fts5": ["data", "idx", "docsize"],
    ]

    static func all(inCopyAt path: FilePath) throws -> [FullTextIndex] {
        let size = try OpenFile.readingWithoutFollowing(path).size
        let queue = try DatabaseQueue(
            path: StoreAddress.of(path),
            configuration: HardenedConfiguration.make(trust: .unchecked, longestValue: size))
        let virtual = try queue.unsafeRead { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT name, sql FROM sqlite_schema
                    WHERE type = 'table' AND rootpage = 0 AND typeof(name) = 'text' AND typeof(sql) = 'text'
                    """)
        }
        return virtual.compactMap { FullTextIndex($0["name"], definition: $0["sql"]) }
    }

    /// - Returns: `nil` for another module, and for an index that has no content of which it could be made again.
    private init?(_ table: String, definition: String) {
        let definition = definition.lowercased().filter { !$0.isWhitespace }
        guard
            let endings = Self.endings.first(where: { module, _ in
                definition.hasSuffix("using\(module)") || definition.contains("using\(module)(")
            })?.value,
            !definition.contains("content=''"), !definition.contains(#"content="""#)
        else { return nil }
        (self.table, shadows) = (table, endings.map { "\(table)_\($0)" })
    }
}
