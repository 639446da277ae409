import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Deltas with new rows that are like some of the base, wherever these are.
@Suite struct DeltaLikenessTests {
    /// What is done, and how many bytes say so, at most. There are three to ten times as many bytes of noise in the rows.
    @Test(
        arguments: [
            ("INSERT INTO b SELECT id + 5000, v FROM a WHERE id % 9 = 0; DELETE FROM a WHERE id % 9 = 0", 1500),
            ("INSERT INTO b SELECT id + 5000, v FROM a WHERE id BETWEEN 500 AND 700", 400),
            ("INSERT INTO a SELECT id + 5000, v || '!' FROM a WHERE id % 300 = 7", 150),
        ], [SegmentEffort.standard, .smallest])
    func `rows that are like others of any table cost little`(
        change: (sql: String, most: Int), effort: SegmentEffort
    ) throws {
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
        let delta = try DeltaOfStores(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, v); CREATE TABLE b (id INTEGER PRIMARY KEY, v);
            \(numbers) INSERT INTO a SELECT i, hex(randomblob(40)) FROM n;
            \(numbers) INSERT INTO b SELECT i, hex(randomblob(40)) FROM n;
            """, change.sql, effort: effort)
        #expect(try delta.applied() == delta.new)
        #expect(delta.size <= change.most)
    }

    @Test(arguments: [SegmentEffort.standard, .smallest])
    func `a long row that is like one that stays is made of that`(effort: SegmentEffort) throws {
        let delta = try DeltaOfStores(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, v);
            INSERT INTO a VALUES (1, randomblob(300000)), (2, randomblob(400000)), (3, randomblob(600000));
            """,
            "INSERT INTO a SELECT id + 7, substr(v, 1, 90000) || x'00' || substr(v, 90500) FROM a WHERE id < 3",
            effort: effort)
        #expect(try delta.applied() == delta.new)
        #expect(delta.size < 120)
    }

    /// Half of the text of the base does not fit into a dictionary.
    @Test func `new rows that resemble some in the middle of a large table are made of these`() throws {
        let delta = try DeltaOfStores(
            pageSize: 4096,
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
            INSERT INTO t SELECT i, replace(hex(randomblob(1000)), 'A', 'x') FROM n;
            """, "INSERT INTO t(a) SELECT substr(a, 900) || substr(a, 1, 899) FROM t WHERE id BETWEEN 700 AND 800")
        #expect(try delta.applied() == delta.new)
        // 100 kB of noise.
        #expect(delta.size < 5000)
    }
}
