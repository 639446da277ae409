import GRDB
import StoreSnapshot
import SystemPackage
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

    private static func table(_ rows: Int, _ values: [String]) -> String {
        let columns = values.indices.map { "c\($0)" }.joined(separator: ", ")
        return """
            CREATE TABLE t (id INTEGER PRIMARY KEY, \(columns));
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            INSERT INTO t SELECT i, \(values.joined(separator: ", ")) FROM n;
            """
    }

    private static let shared = ["i % 100", "'status ' || abs(random() % 3)", "'every row'", "hex(randomblob(12))"]

    /// What is done to a table, one after the other, and how many bytes say so, at most. Its values have 30,000 to 4,000,000, without those
    /// that its rows share.
    @Test(
        arguments: [
            (table(12, ["i", "randomblob(300000)"]), [.moveValues], 300),
            (table(2500, shared), [.syncRows], 1000),
            // More values than can be noted.
            (table(5000, ["i % 100"] + Array(repeating: "hex(randomblob(4))", count: 60)), [.syncRows], 2000),
            (
                table(2500, ["i % 100", "hex(randomblob(8))", "hex(randomblob(12))"]),
                [.deleteFirstRows, .dropColumn, .renameTable], 300
            ),
        ] as [(String, [RandomChange.Kind], Int)], 0..<4 as Range<UInt64>)
    func `rows of other keys, and tables without their first rows, cost little`(
        change: (made: String, kinds: [RandomChange.Kind], most: Int), seed: UInt64
    ) throws {
        var random = RepeatableRandom(seed: seed)
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue.repeatable(path: folder.path.appending("source"))
        let (old, new) = (folder.path.appending("old"), folder.path.appending("new"))
        try queue.writeWithoutTransaction { try $0.execute(sql: change.made) }
        try queue.vacuum(into: old.string)
        for kind in change.kinds {
            let done = try queue.writeWithoutTransaction { try RandomChange.made(in: $0, &random, kinds: [kind]) }
            #expect(done != nil)
        }
        try queue.vacuum(into: new.string)
        try queue.close()
        let delta = try DeltaOfStores(of: old, new)
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
