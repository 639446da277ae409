import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import StoreSnapshot

/// Section 4.8 of the protocol.
@Suite struct TableContentTests {
    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
    }

    /// What is told of a copy.
    private func contents(of path: FilePath? = nil) async throws -> [ForeignText: TableContent]? {
        try await SourceStore(at: path ?? self.path).compactCopy(in: scratch.path).tables
    }

    @Test(arguments: try ProtocolVector.all(.tables))
    func `a store's tables are told as its vector says`(vector: ProtocolVector) throws {
        try Data(vector.bytes).write(to: URL(fileURLWithPath: path.string))
        let tables = try TableDigests.read(path).contents
        let lines = tables.flatMap { name, content in
            ["value.\(name.unescaped).rows: \(content.rows)", "value.\(name.unescaped).digest: \(content.digest)"]
        }
        #expect(lines.sorted() == vector.statedValues)
    }

    @Test(arguments: SampleStore.allCases)
    func `every table of any store is told of, but virtual ones and SQLite's own`(store: SampleStore) async throws {
        try store.make(at: path, journalMode: "WAL")
        let copy = try await SourceStore(at: path).compactCopy(in: scratch.path)
        let expected = try await DatabaseQueue(path: copy.path.string).read { database in
            try String.fetchSet(
                database,
                sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite_%'"
            )
        }
        let found = copy.tables
        let tables = try #require(found)
        #expect(Set(tables.keys.map(\.unescaped)) == expected)
        let name = StoreName(suggestedBy: "a")
        let manifest = try copy.manifest(name: name, createdAt: Timestamp(Date()), software: "a")
        #expect(manifest.tables == tables)
        #expect(try TableDigests.read(copy.path).contents == tables)
    }

    @Test func `content alone counts`() async throws {
        let other = scratch.path.appending("other.sqlite")
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"
        let make = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b); CREATE TABLE k(a PRIMARY KEY, b) WITHOUT ROWID;"
        try TestStore.make(
            at: path,
            sql: """
                \(make) \(rows) INSERT INTO t SELECT i, 'Zürich ' || i, i / 2.0 FROM n;
                \(rows) INSERT INTO k SELECT i, zeroblob(i) FROM n;
                """)
        try TestStore.make(
            at: other,
            sql: """
                PRAGMA page_size = 512; PRAGMA auto_vacuum = FULL; \(make)
                CREATE INDEX k_b ON k(b); CREATE INDEX t_all ON t(b, a, id);
                \(rows) INSERT INTO k SELECT 301 - i, zeroblob(301 - i) FROM n;
                \(rows) INSERT INTO t SELECT 1000 - i, randomblob(50), 0 FROM n; DELETE FROM t;
                \(rows) INSERT INTO t SELECT 301 - i, 'Zürich ' || (301 - i), (301 - i) / 2.0 FROM n; ANALYZE;
                """)
        let found = try await contents()
        #expect(try await contents(of: other) == found)
        #expect(found?["t"]?.rows == 300)
    }

    @Test func `a change is a change of its table alone`() async throws {
        try TestStore.make(at: path, sql: "CREATE TABLE a(x); CREATE TABLE b(x); INSERT INTO a VALUES (1), (2);")
        let before = try #require(try await contents())
        var seen: Set<TableContent?> = [before["a"]]
        for change in [
            "UPDATE a SET x = 3 WHERE x = 2", "UPDATE a SET x = '3' WHERE x = 3", "DELETE FROM a WHERE x = 1",
            "UPDATE a SET rowid = 9", "UPDATE a SET x = NULL",
        ] {
            try TestStore.make(at: path, sql: change)
            let after = try #require(try await contents())
            #expect(after["b"] == before["b"])
            #expect(seen.insert(after["a"]).inserted, "\(change)")
        }
    }

    /// SQLite reads a type that it keeps to itself as NULL; a canonical form has none.
    @Test func `a store without a canonical form is told of as it is written`() async throws {
        try TestStore.make(
            at: path, sql: "CREATE TABLE t(a, b); INSERT INTO t VALUES ('x', 1), ('needle-abc', NULL), ('y', 2);")
        let whole = try await contents()
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path.string)))
        let needle: [UInt8] = [3, 33, 0] + Array("needle-abc".utf8)
        let place = try #require(bytes.indices.first { bytes[$0...].starts(with: needle) })
        bytes[place + 2] = 10
        try Data(bytes).write(to: URL(fileURLWithPath: path.string))
        let copy = try await SourceStore(at: path).compactCopy(in: scratch.path)
        guard case .failure = copy.canonical else {
            Issue.record("there is a canonical form")
            return
        }
        #expect(copy.tables?["t"]?.rows == 3)
        #expect(copy.tables?["t"]?.digest != whole?["t"]?.digest)
        #expect(try TableDigests.read(copy.path).contents == copy.tables)
    }

    @Test func `long rows may come anywhere`() async throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a, b, c DEFAULT 7);
                INSERT INTO t(rowid, a, b) VALUES (-5, zeroblob(2000000), NULL), (1, 'x', 2.5), (2, 4, 5),
                    (7, printf('%2000000d', 1), zeroblob(1100000)), (8, zeroblob(1048577), -1), (9, NULL, 'y'),
                    (9223372036854775807, 1e300, zeroblob(5000000));
                """)
        let found = try #require(try await contents())
        #expect(found["t"]?.rows == 7)
        #expect(found["t"] == (try Self.digestInMemory(of: "t", in: path)))
    }

    /// By SQL and from a table's records as this test makes them: of integers that need no bytes, of texts, blobs and NULL.
    private static func digestInMemory(of table: String, in path: FilePath) throws -> TableContent {
        var bytes: [UInt8] = []
        var count: Int64 = 0
        try TestStore.open(path).read { database in
            for row in try Row.fetchAll(database, sql: "SELECT rowid, * FROM \(table) ORDER BY rowid") {
                var (header, body): ([UInt8], [UInt8]) = ([], [])
                for value in Array(row.databaseValues).dropFirst() {
                    switch value.storage {
                    case .null: header.append(0)
                    case .int64(let integer):
                        CanonicalRecord.append(integer, .modern, header: &header, body: &body)
                    case .double(let real):
                        header.append(7)
                        withUnsafeBytes(of: real.bitPattern.bigEndian) { body += $0 }
                    case .string(let text):
                        Varint.append(SerialType.text(length: text.utf8.count), to: &header)
                        body += Array(text.utf8)
                    case .blob(let blob):
                        Varint.append(SerialType.blob(length: blob.count), to: &header)
                        body += Array(blob)
                    }
                }
                var record: [UInt8] = []
                Varint.append(UInt64(CanonicalRecord.headerSizeWithItself(header.count)), to: &record)
                record += header + body
                Varint.append(UInt64(record.count), to: &bytes)
                Varint.append(UInt64(bitPattern: row[0] as Int64), to: &bytes)
                bytes += record
                count += 1
            }
        }
        return TableContent(rows: count, sha256: ContentDigest(hashing: bytes))
    }

    @Test func `a long row takes no memory to speak of`() async throws {
        try TestStore.make(at: path, sql: "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, zeroblob(150000000))")
        await #expect(processExitsWith: .success) {
            [path = path.string as String, scratch = scratch.path.string as String] in
            let before = try MemoryUse.peak
            let copy = try await SourceStore(at: FilePath(path)).compactCopy(in: FilePath(scratch))
            let rows = copy.tables?["t"]?.rows
            #expect(rows == 1)
            let grown = try MemoryUse.peak - before
            #expect(grown < 40_000_000)
        }
    }

    @Test(arguments: [
        "CREATE TABLE t(a PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO t VALUES (1, zeroblob(2000000))",
        "CREATE TABLE t(a, b AS (length(a))); INSERT INTO t VALUES (zeroblob(2000000))",
        "PRAGMA encoding = 'UTF-16le'; CREATE TABLE t(a); INSERT INTO t VALUES (printf('%2000000d', 1))",
        "CREATE TABLE t(rowid, _rowid_, oid); INSERT INTO t(oid) VALUES (zeroblob(2000000))",
        "CREATE TABLE t(\((0..<2000).map { "c\($0)" }.joined(separator: ","))); INSERT INTO t(c7) VALUES (1)",
    ])
    func `whatever a row is like, it is told of`(sql: String) async throws {
        try TestStore.make(at: path, sql: "BEGIN; \(sql); COMMIT")
        #expect(try await contents()?["t"]?.rows == 1)
    }

    @Test(arguments: [
        "CREATE TABLE \"\"(a)", "CREATE TABLE \"\(String(repeating: "t", count: 257))\"(a)",
        "CREATE TABLE é(a); CREATE TABLE e\u{301}(a)",
        (0..<2049).map { "CREATE TABLE t\($0)(a);" }.joined(),
        """
        CREATE TABLE t(a); PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET name = CAST(x'FF' AS TEXT), tbl_name = CAST(x'FF' AS TEXT),
            sql = 'CREATE TABLE "' || CAST(x'FF' AS TEXT) || '"(a)'
        """,
    ])
    func `a store of which not all tables can be told says nothing of any`(sql: String) async throws {
        try TestStore.make(at: path, sql: "BEGIN; \(sql); COMMIT")
        #expect(try await contents() == nil)
    }
}
