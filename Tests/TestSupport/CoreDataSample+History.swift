import GRDB

extension CoreDataSample {
    /// Adds persistent history, as tracking leaves it: each transaction made one change.
    package func addHistory(transactions: Int) throws {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(transactions))"
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE IF NOT EXISTS ACHANGE (
                    Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER,
                    ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB);
                CREATE TABLE IF NOT EXISTS ATRANSACTION (
                    Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER,
                    ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR,
                    ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB);
                CREATE TABLE IF NOT EXISTS ATRANSACTIONSTRING (
                    Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR);
                CREATE UNIQUE INDEX IF NOT EXISTS Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME);
                INSERT OR IGNORE INTO ATRANSACTIONSTRING VALUES (1, 16003, 1, 'org.example.kitchen');
                \(rows) INSERT INTO ATRANSACTION(Z_ENT, Z_OPT, ZBUNDLEIDTS, ZTIMESTAMP) SELECT 16002, 1, 1, 790000000.5 + i FROM n;
                \(rows) INSERT INTO ACHANGE(Z_ENT, Z_OPT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS)
                    SELECT 16001, 1, 1, 1, i, (SELECT max(Z_PK) FROM ATRANSACTION) - i + 1, zeroblob(8) FROM n;
                INSERT OR REPLACE INTO Z_PRIMARYKEY
                    SELECT 16001, 'CHANGE', 0, max(Z_PK) FROM ACHANGE UNION ALL
                    SELECT 16002, 'TRANSACTION', 0, max(Z_PK) FROM ATRANSACTION UNION ALL
                    SELECT 16003, 'TRANSACTIONSTRING', 0, 1;
                """)
    }

    /// Adds an entity that inherits from Recipe, and so shares its table, with one object.
    package func addSubentity() throws {
        try TestStore.make(
            at: path,
            sql: """
                INSERT INTO Z_PRIMARYKEY VALUES (3, 'Dessert', 1, 0);
                INSERT INTO ZRECIPE VALUES (901, 3, 1, 'Trifle', NULL);
                UPDATE Z_PRIMARYKEY SET Z_MAX = 901 WHERE Z_ENT = 1;
                """)
    }
}
