extension HostileStore {
    private static let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"

    /// What costs whoever evaluates it.
    static let costs: [HostileStore] = [
        .sql(
            "an endless view", .harmless,
            "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"),
        .sql(
            "views of views, each twice", .harmless,
            (1...40).map { "CREATE VIEW v\($0) AS SELECT * FROM v\($0 - 1) UNION ALL SELECT * FROM v\($0 - 1);" }
                .reduce("CREATE TABLE v0(a); ", +)),
        .sql(
            "endless triggers", .harmless,
            """
            CREATE TABLE t(a); INSERT INTO t VALUES (1);
            CREATE TRIGGER x AFTER INSERT ON t BEGIN INSERT INTO t VALUES (new.a); END;
            """),
        .sql(
            "a costly CHECK", .harmless,
            """
            CREATE TABLE t(a INT, CHECK (length(hex(zeroblob(300000 + a))) > 0)); PRAGMA ignore_check_constraints = ON;
            \(rows) INSERT INTO t SELECT i FROM n
            """),
        .schema(
            "a costly column", .refused, after: "CREATE TABLE u(a); \(rows) INSERT INTO u SELECT i FROM n",
            change: """
                UPDATE sqlite_schema SET sql =
                'CREATE TABLE u(a, b AS (replace(replace(hex(zeroblob(60000 + a % 9)), 0, 1), 1, 2)) NOT NULL)'
                WHERE name = 'u'
                """),
        .schema(
            "a column that is longer than its file", .refused, after: "CREATE TABLE u(a); INSERT INTO u VALUES (1)",
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE u(a, b AS (hex(zeroblob(500000000))) NOT NULL)' WHERE name = 'u'
                """),
        .schema(
            "a column that is printed without end", .refused, after: "CREATE TABLE u(a); INSERT INTO u VALUES (1)",
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE u(a, b AS (printf(''%.*c'', 100000000, a)) NOT NULL)'
                WHERE name = 'u'
                """),
        .schema(
            "a column that is looked for without end", .refused,
            after: "CREATE TABLE u(a); \(rows) INSERT INTO u SELECT i FROM n",
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE u(a, b AS (instr(zeroblob(60000 + a % 9), zeroblob(30000) || x''01''))
                NOT NULL)' WHERE name = 'u'
                """),
        .schema(
            "an index of a pattern of many wildcards", .harmless,
            after: """
                CREATE TABLE u(a); \(rows) INSERT INTO u SELECT hex(zeroblob(30)) FROM n;
                CREATE INDEX u_a ON u(a) WHERE a LIKE '%1'
                """,
            change: """
                UPDATE sqlite_schema SET sql = replace(sql, '%1', replace(hex(zeroblob(12)), '0', '%0') || '%1')
                WHERE name = 'u_a'
                """),
        .schema(
            "a deep expression", .refused,
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB, CHECK ('
                || replace(hex(zeroblob(450)), '0', '~') || '1))'
                WHERE name = 't'
                """),
        .schema(
            "an expression deeper than SQLite's own limit", .refused,
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB, c AS (1'
                || replace(hex(zeroblob(5000)), '0', '+1') || '))' WHERE name = 't'
                """),
        .schema(
            "a select of too many changes", .refused,
            change: """
                INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0,
                'CREATE VIEW v AS SELECT 1' || replace(hex(zeroblob(5000)), '0', ' UNION ALL SELECT 1'))
                """),
        .sql(
            "a table of 2,000 columns", .harmless,
            "CREATE TABLE t(\((1...2000).map { "c\($0)" }.joined(separator: ", ")))"),
        .sql(
            "2,000 tables", .harmless, pageSize: 512,
            "BEGIN; " + (1...2000).map { "CREATE TABLE t\($0)(a);" }.joined() + "COMMIT"),
        .schema(
            "3,000 views", .harmless,
            change: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO sqlite_schema SELECT 'view', 'v' || i, 'v' || i, 0, 'CREATE VIEW v' || i || ' AS SELECT 1' FROM n
                """),
        .sql(
            "a row of 20 MB of nothing", .harmless,
            "CREATE TABLE t(a); INSERT INTO t VALUES (zeroblob(20000000))"),
        .sql(
            "foreign keys that lead nowhere", .harmless,
            """
            CREATE TABLE t(a REFERENCES nobody(b), c REFERENCES t(a)); PRAGMA foreign_keys = OFF;
            INSERT INTO t VALUES (1, 2), (3, 4)
            """),
    ]

    /// Modules that keep tables of their own, with other things in them.
    static let modules: [HostileStore] = [
        .sql(
            "full text whose index is rubbish", .harmless,
            """
            CREATE VIRTUAL TABLE f USING fts5(a); INSERT INTO f VALUES ('hello world');
            UPDATE f_data SET block = zeroblob(100); UPDATE f_docsize SET sz = x'ffffffffffffffff'
            """),
        .schema(
            "full text whose tables are gone", .harmless, after: "CREATE VIRTUAL TABLE f USING fts5(a)",
            change: "DELETE FROM f_config; DELETE FROM f_data"),
        .sql(
            "full text of the schema", .harmless,
            "CREATE VIRTUAL TABLE f USING fts5(sql, content='sqlite_schema', content_rowid='rootpage')"),
        .schema(
            "full text with a pointer for a tokenizer", .harmless, after: "CREATE VIRTUAL TABLE f USING fts3(a)",
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE VIRTUAL TABLE f USING fts3(a, tokenize=AAAAAAAA)' WHERE name = 'f'
                """),
        .sql(
            "a tree of boxes that is rubbish", .harmless,
            """
            CREATE VIRTUAL TABLE r USING rtree(id, x0, x1); INSERT INTO r VALUES (1, 2, 3);
            UPDATE r_node SET data = zeroblob(7)
            """),
        .schema(
            "a module that nobody has", .harmless, after: "CREATE VIRTUAL TABLE f USING fts5(a)",
            change: "UPDATE sqlite_schema SET sql = 'CREATE VIRTUAL TABLE f USING nobodys(a)' WHERE name = 'f'"),
        .schema(
            "a module that reads other files", .harmless, after: "CREATE VIRTUAL TABLE f USING fts5(a)",
            change:
                "UPDATE sqlite_schema SET sql = 'CREATE VIRTUAL TABLE f USING csv(filename=/etc/passwd)' WHERE name = 'f'"
        ),
        .sql(
            "a view of the pages themselves", .harmless, "CREATE VIEW v AS SELECT * FROM sqlite_dbpage"),
        .sql(
            "a table that is said to be of the user's own pairs", .harmless,
            "CREATE TABLE ship_store_metadata(key, value); INSERT INTO ship_store_metadata VALUES (x'ff', NULL)"),
    ]

    /// What a producer takes, and a consumer may not.
    static let byRows: [HostileStore] = [
        .schema(
            "a costly column", .refused,
            after: "CREATE TABLE u(a); INSERT INTO u SELECT id FROM t; INSERT INTO u SELECT id FROM t",
            change: """
                UPDATE sqlite_schema SET sql =
                'CREATE TABLE u(a, b AS (replace(replace(hex(zeroblob(30000 + a % 9)), 0, 1), 1, 2)) NOT NULL)'
                WHERE name = 'u'
                """),
        .schema(
            "words of 700 levels", .harmless,
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB, c AS (1'
                || replace(hex(zeroblob(350)), '0', '+1') || '))' WHERE name = 't'
                """),
    ]

    static let all = headers + pages + schemas + costs + modules
}
