import GRDB
import GRDBSQLite
package import SystemPackage

/// A store of one shape, made by SQLite in either of two ways, which end in the same rows.
package struct MadeStore: Sendable, CustomStringConvertible {
    /// How the rows came about.
    package enum History: CaseIterable, Sendable {
        /// In the order of keys.
        case straight
        /// In other orders, with rows that come and go between, and some that are written again.
        case winding
    }

    /// What is in a store.
    package struct Content: Sendable {
        package let name: String
        fileprivate let tables: [MadeTable]
        /// Run after the rows.
        fileprivate let more: String

        init(_ name: String, _ tables: [MadeTable], more: String = "") {
            self.name = name
            self.tables = tables
            self.more = more
        }
    }

    package let content: Content
    package let pageSize: Int
    package let encoding: String
    package let autoVacuum: String
    package let reservedBytes: Int

    package init(
        _ content: Content, pageSize: Int = 1024, encoding: String = "UTF-8", autoVacuum: String = "NONE",
        reservedBytes: Int = 0
    ) {
        self.content = content
        self.pageSize = pageSize
        self.encoding = encoding
        self.autoVacuum = autoVacuum
        self.reservedBytes = reservedBytes
    }

    package var description: String {
        "\(content.name) \(pageSize) \(encoding) \(autoVacuum)\(reservedBytes == 0 ? "" : " reserved \(reservedBytes)")"
    }

    /// Makes the store and a compact copy of it, as `VACUUM INTO` leaves it.
    ///
    /// - Parameters:
    ///   - copy: A file that is not there yet.
    ///   - folder: For the store itself.
    package func makeCopy(at copy: FilePath, _ history: History = .straight, in folder: ScratchFolder) throws {
        let source = folder.path.appending("source of \(copy.lastComponent?.string ?? "")")
        let queue = try DatabaseQueue(path: source.string)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(encoding)';
                    PRAGMA auto_vacuum = \(autoVacuum); PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY
                    """)
            if reservedBytes > 0 {
                var count = CInt(reservedBytes)
                sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_RESERVE_BYTES, &count)
            }
            try database.inTransaction {
                for table in content.tables { try database.execute(sql: table.statements(history)) }
                try database.execute(sql: content.more)
                return .commit
            }
        }
        try queue.vacuum(into: copy.string)
        try queue.close()
    }
}

/// A table, and the rows that go into it.
struct MadeTable: Sendable {
    /// The table and its indexes.
    let definition: String
    /// `t(a, b)`
    let target: String
    /// For each *i* from 0: `i, i * 2`. Its first is the key, or the rowid.
    let values: String
    let count: Int
    /// Which rows come and go.
    let condition: String

    init(_ definition: String, _ target: String, _ values: String, count: Int, comeAndGo condition: String) {
        self.definition = definition
        self.target = target
        self.values = values
        self.count = count
        self.condition = condition
    }

    func statements(_ history: MadeStore.History) -> String {
        guard count > 0 else { return definition }
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(count))"
        let name = target.prefix { $0 != "(" }
        switch history {
        case .straight:
            return "\(definition); \(numbers) INSERT INTO \(target) SELECT \(values) FROM n;"
        case .winding:
            let insert = "\(numbers) INSERT OR REPLACE INTO \(target) SELECT \(values) FROM n"
            return """
                \(definition);
                \(insert) WHERE i % 3 = 1;
                \(insert) ORDER BY i DESC;
                DELETE FROM \(name) WHERE \(condition);
                \(insert) ORDER BY i * 7919 % \(count);
                """
        }
    }
}
