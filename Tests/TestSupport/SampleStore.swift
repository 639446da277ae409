package import GRDB
package import SystemPackage

/// Stores that between them use all of SQLite that a store may use.
package enum SampleStore: String, CaseIterable, Sendable {
    case plain, autoVacuumFull, autoVacuumIncremental, withoutRowID, fts3, fts4, fts5, rTree, generatedColumns
    case viewsAndTriggers, doubleQuotedStrings, utf16LittleEndian, utf16BigEndian, noTables, foreignKeys, freePages
    case unknownModule, numbersInHeader, checks

    /// What has to be said before there is anything in the file.
    private var preparation: String {
        switch self {
        case .autoVacuumFull: "PRAGMA auto_vacuum = FULL"
        case .autoVacuumIncremental: "PRAGMA auto_vacuum = INCREMENTAL"
        case .utf16LittleEndian: "PRAGMA encoding = 'UTF-16le'"
        case .utf16BigEndian: "PRAGMA encoding = 'UTF-16be'"
        default: ""
        }
    }

    private static let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"

    private var content: String {
        switch self {
        case .plain, .utf16LittleEndian, .utf16BigEndian:
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB, c REAL);
            \(Self.rows) INSERT INTO t(a, b, c) SELECT 'Zürich 東京 🚢 ' || i, zeroblob(i % 97), i / 7.0 FROM n;
            INSERT INTO t(a, b) VALUES (NULL, zeroblob(200000));
            CREATE INDEX t_a ON t(a);
            CREATE UNIQUE INDEX t_p ON t(c) WHERE c > 3;
            CREATE INDEX t_e ON t(lower(a));
            """
        case .autoVacuumFull, .autoVacuumIncremental, .freePages:
            """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a BLOB);
            \(Self.rows) INSERT INTO t SELECT i, randomblob(900) FROM n;
            DELETE FROM t WHERE id % 3 = 0;
            """
        case .withoutRowID:
            """
            CREATE TABLE t(a TEXT, b INT, c, PRIMARY KEY(b, a)) WITHOUT ROWID;
            \(Self.rows) INSERT INTO t SELECT 'k' || i, i % 10, randomblob(20) FROM n;
            """
        case .fts3: "CREATE VIRTUAL TABLE f USING fts3(a, b); INSERT INTO f VALUES ('hello world', 'of rows');"
        case .fts4: "CREATE VIRTUAL TABLE f USING fts4(a, b); INSERT INTO f VALUES ('hello world', 'of rows');"
        case .fts5: "CREATE VIRTUAL TABLE f USING fts5(a, b); INSERT INTO f VALUES ('hello world', 'of rows');"
        case .rTree:
            """
            CREATE VIRTUAL TABLE r USING rtree(id, x0, x1, y0, y1);
            \(Self.rows) INSERT INTO r SELECT i, i, i + 1, -i, i FROM n;
            """
        case .generatedColumns:
            """
            CREATE TABLE t(a INT, b AS (a * 2) STORED, c AS (a || 'x') VIRTUAL, CHECK (a > 0));
            \(Self.rows) INSERT INTO t(a) SELECT i FROM n;
            CREATE INDEX t_c ON t(c);
            """
        case .viewsAndTriggers:
            """
            CREATE TABLE t(a INT); CREATE TABLE log(a INT);
            CREATE VIEW v AS SELECT a, a + 1 AS b FROM t;
            CREATE TRIGGER after_t AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END;
            CREATE TRIGGER instead INSTEAD OF INSERT ON v BEGIN INSERT INTO t VALUES (new.a); END;
            INSERT INTO v VALUES (1, 2), (3, 4);
            """
        case .doubleQuotedStrings:
            """
            CREATE TABLE t(kind CHECK (kind IN ("a", "b")));
            INSERT INTO t VALUES ('a'), ('b');
            CREATE INDEX t_kind ON t(kind) WHERE kind = "a";
            """
        case .noTables: ""
        case .foreignKeys:
            """
            CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES parent(id) ON DELETE CASCADE);
            CREATE TABLE parent(id INTEGER PRIMARY KEY AUTOINCREMENT);
            PRAGMA foreign_keys = OFF; INSERT INTO child VALUES (1, 99); INSERT INTO parent VALUES (7);
            """
        case .unknownModule:
            """
            CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('hello'); CREATE TABLE t(a); INSERT INTO t VALUES (1);
            PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'fts5', 'apps') WHERE name = 'f';
            """
        case .checks:
            """
            CREATE TABLE t(a INT CHECK (a > 0), b TEXT NOT NULL CHECK (b IN ('x', 'y')));
            \(Self.rows) INSERT INTO t SELECT i, 'x' FROM n;
            DELETE FROM t WHERE a % 3 = 0;
            CREATE INDEX t_a ON t(a);
            """
        case .numbersInHeader: "PRAGMA application_id = -1702; PRAGMA user_version = -42; CREATE TABLE t(a);"
        }
    }

    /// Makes the store; nobody has it open afterwards.
    ///
    /// - Parameter pageSize: In bytes.
    package func make(at path: FilePath, journalMode: String = "DELETE", pageSize: Int = 4096) throws {
        let queue = try TestStore.open(path, preparation: "PRAGMA page_size = \(pageSize); \(preparation)")
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = \(journalMode)")
            try database.execute(sql: content)
            if self == .noTables { try database.execute(sql: "VACUUM") }
        }
        try queue.close()
    }
}

/// Stores as an app opens them.
package enum TestStore {
    /// A connection that may write and that waits for nobody; the file is made if it is not there.
    package static func open(_ path: FilePath, preparation: String = "") throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.foreignKeysEnabled = false
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { if !preparation.isEmpty { try $0.execute(sql: preparation) } }
        return try DatabaseQueue(path: path.string, configuration: configuration)
    }

    /// Makes a store, or changes one, by these statements; nobody has it open afterwards.
    package static func make(at path: FilePath, preparation: String = "", sql: String) throws {
        let queue = try open(path, preparation: preparation)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }
}
