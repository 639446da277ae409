extension HostileStore {
    /// Rows of `sqlite_schema` that SQLite would never write.
    static let schemas: [HostileStore] = [
        .schema("a table on page 0", .refused, change: "UPDATE sqlite_schema SET rootpage = 0 WHERE name = 't'"),
        .schema("a table on page 1", .refused, change: "UPDATE sqlite_schema SET rootpage = 1 WHERE name = 't'"),
        .schema(
            "a table beyond the end", .refused, change: "UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 't'"),
        .schema(
            "a table before the beginning", .refused,
            change: "UPDATE sqlite_schema SET rootpage = -2 WHERE name = 't'"),
        .schema(
            "a table on page 2^40", .refused,
            change: "UPDATE sqlite_schema SET rootpage = 1099511627778 WHERE name = 't'"),
        .schema(
            "an index on the pages of its table", .refused,
            change: "UPDATE sqlite_schema SET rootpage = 2 WHERE name = 't_a'"),
        .schema(
            "two tables on the same pages", .refused, after: "CREATE TABLE u(id INTEGER PRIMARY KEY, a, b)",
            change: "UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'u'"),
        .schema(
            "a table twice", .refused,
            change: "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 't'"),
        .schema(
            "an index twice", .refused,
            change: "INSERT INTO sqlite_schema SELECT * FROM sqlite_schema WHERE name = 't_a'"),
        .schema("a table without words", .refused, change: "UPDATE sqlite_schema SET sql = NULL WHERE name = 't'"),
        .schema(
            "words that are no statement", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE ME' WHERE name = 't'"
        ),
        .schema(
            "words that do something else", .refused,
            change: "UPDATE sqlite_schema SET sql = 'DROP TABLE t' WHERE name = 't'"),
        .schema(
            "words of 2 MiB", .harmless,
            change:
                "UPDATE sqlite_schema SET sql = replace(sql, '(', '(/*' || hex(zeroblob(1048576)) || '*/') WHERE name = 't'"
        ),
        .schema(
            "50 views of 1 MB", .refused,
            change: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
                INSERT INTO sqlite_schema SELECT 'view', 'v' || i, 'v' || i, 0,
                    'CREATE VIEW v' || i || ' AS SELECT x''' || hex(zeroblob(450000)) || '''' FROM n
                """),
        .schema(
            "a table that is a view", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE VIEW t AS SELECT 1 AS id' WHERE name = 't'"),
        .schema(
            "a table of another name", .refused,
            change: "UPDATE sqlite_schema SET sql = replace(sql, 'TABLE t(', 'TABLE u(') WHERE name = 't'"),
        .schema(
            "a name that is no UTF-8", .refused,
            change: """
                UPDATE sqlite_schema SET name = CAST(x'74ff' AS TEXT), tbl_name = CAST(x'74ff' AS TEXT) WHERE name = 't'
                """),
        .schema("an entry of no kind", .refused, change: "UPDATE sqlite_schema SET type = NULL WHERE name = 't_a'"),
        .schema(
            "a name that is a blob", .refused,
            change: "UPDATE sqlite_schema SET name = x'ff00', tbl_name = x'ff00' WHERE name = 't'"),
        .schema(
            "a table without columns", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE TABLE t()' WHERE name = 't'"
        ),
        .schema(
            "a table that is said to be without rowids", .refused,
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE t(id INTEGER PRIMARY KEY, a, b) WITHOUT ROWID' WHERE name = 't'
                """),
        .schema(
            "a table that is said to have rowids", .refused,
            after: "CREATE TABLE u(k PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO u VALUES (1, 2), (3, 4)",
            change: "UPDATE sqlite_schema SET sql = 'CREATE TABLE u(k INTEGER PRIMARY KEY, v)' WHERE name = 'u'"),
        .schema(
            "an index of other columns", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE INDEX t_a ON t(b)' WHERE name = 't_a'"),
        .schema(
            "an index of a column that is not there", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE INDEX t_a ON t(c)' WHERE name = 't_a'"),
        .schema(
            "an index of another order", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE INDEX t_a ON t(a DESC)' WHERE name = 't_a'"),
        .schema(
            "a collation that nobody has", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE INDEX t_a ON t(a COLLATE nobodys)' WHERE name = 't_a'"),
        .schema(
            "a function that nobody has", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE INDEX t_a ON t(nobodys(a))' WHERE name = 't_a'"),
        .schema(
            "an index whose function does harm", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE INDEX t_a ON t(load_extension(a))' WHERE name = 't_a'"),
        .schema(
            "a partial index of a function that is not deterministic", .refused,
            change: "UPDATE sqlite_schema SET sql = 'CREATE INDEX t_a ON t(a) WHERE random() > 0' WHERE name = 't_a'"),
        .schema(
            "columns without number", .refused,
            after: "CREATE TABLE u(a)",
            change: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
                UPDATE sqlite_schema SET sql = (SELECT 'CREATE TABLE u(' || group_concat('c' || i) || ')' FROM n)
                WHERE name = 'u'
                """),
        .schema(
            "statistics of rubbish", .harmless, after: "ANALYZE",
            change: """
                UPDATE sqlite_stat1 SET stat = '99999999999999999999 -1 unordered sz=-5 noskipscan ' || hex(zeroblob(5000));
                INSERT INTO sqlite_stat1 VALUES (NULL, NULL, NULL), ('t', 'nobody', x'ff'), (x'00', 't_a', 'x y z')
                """),
        .schema(
            "statistics that are a view", .harmless,
            change: """
                INSERT INTO sqlite_schema VALUES ('view', 'sqlite_stat1', 'sqlite_stat1', 0, 'CREATE VIEW sqlite_stat1(tbl, idx,
                stat) AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ''t'', ''t_a'', i FROM n')
                """),
        .schema(
            "a sequence that is another table", .harmless,
            after: "CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT)",
            change: "INSERT INTO sqlite_sequence VALUES ('t', 'x'), (NULL, x'ff'), ('u', 9223372036854775807)"),
        .schema(
            "a table of SQLite's own", .harmless,
            after: "CREATE TABLE u(a)",
            change: """
                UPDATE sqlite_schema SET name = 'sqlite_u', tbl_name = 'sqlite_u', sql = 'CREATE TABLE sqlite_u(a)'
                WHERE name = 'u'
                """),
    ]
}
