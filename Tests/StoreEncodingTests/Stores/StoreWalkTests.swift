import Foundation
import GRDB
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import StoreEncoding

@Suite struct StoreWalkTests {
    @Test(arguments: MadeStore.all.filter { !$0.content.name.hasPrefix("schema of 3") })
    func `a store that was taken apart is built again byte for byte`(made: MadeStore) throws {
        let store = try WalkedStore(made)
        #expect(try store.built().bytes == store.bytes)
        #expect(store.contents.map(\.isLast) == store.contents.indices.map { $0 == store.contents.count - 1 })
        #expect(store.contents.reduce(0) { $0 + $1.storeBytes } == Int64(store.bytes.count))
        let comparison = PageComparison(with: try MemoryPages(store.bytes), pageSize: store.pageSize) { MemorySpill() }
        let builder = StoreBuilder(pageSize: store.pageSize, pageCount: store.pageCount) { _ in comparison }
        for content in store.contents { try builder.append(try content.encoded(.fast)) }
        #expect(builder.isComplete)
    }

    /// - Returns: How each index was sent, by its name, and that of each table.
    private static func sent(encoding: String = "UTF-8", _ sql: String) throws -> [String: SentTree] {
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue.repeatable(path: folder.path.appending("source"))
        let collation = DatabaseCollation("of the app") { left, right in right.compare(left) }
        try queue.writeWithoutTransaction { database in
            database.add(collation: collation)
            try database.execute(sql: "PRAGMA page_size = 512; PRAGMA encoding = '\(encoding)'; \(sql)")
        }
        let copy = folder.path.appending("copy")
        try queue.vacuum(into: copy.string)
        let store = try WalkedStore(of: copy) { $0.add(collation: collation) }
        #expect(try store.built().bytes == store.bytes)
        let names = try queue.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT s.name FROM sqlite_schema s JOIN sqlite_schema t ON t.name = s.tbl_name AND t.type = 'table'
                    WHERE s.rootpage > 0 ORDER BY t.rowid, s.type DESC, s.rowid
                    """)
        }
        return Dictionary(uniqueKeysWithValues: zip(names, SentTree.all(in: store.elements)))
    }

    private static let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)"

    private static let tables = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT UNIQUE, c REAL, s AS (a || 's') STORED, v AS (a || 'v') VIRTUAL);
        CREATE TABLE w (k TEXT, n, v, PRIMARY KEY (n DESC, k)) WITHOUT ROWID;
        \(numbers) INSERT INTO t(id, a, b, c) SELECT i * 5, i % 9, 'Word ' || i, i / 4.0 FROM n;
        \(numbers) INSERT INTO w SELECT 'k' || i, i % 5, i % 7 FROM n;
        CREATE INDEX plain ON t(a); CREATE INDEX descending ON t(a DESC, b); CREATE INDEX noCase ON t(b COLLATE NOCASE);
        CREATE INDEX trimmed ON t(b COLLATE RTRIM DESC); CREATE INDEX reals ON t(c); CREATE INDEX keyed ON t(c, id);
        CREATE INDEX stored ON t(s); CREATE INDEX ofTree ON w(v); CREATE INDEX computed ON t(v);
        CREATE INDEX part ON t(a) WHERE a > 3; CREATE INDEX whole ON t(a) WHERE id > 0;
        CREATE INDEX expression ON t(a + 1); CREATE INDEX custom ON t(b COLLATE "of the app");
        """

    @Test func `indexes that follow from their rows are left out, all others are sent`() throws {
        let sent = try Self.sent(Self.tables)
        let derived = [
            "plain", "descending", "noCase", "trimmed", "reals", "keyed", "stored", "ofTree", "sqlite_autoindex_t_1",
        ]
        let entries = ["w", "computed", "part", "expression", "custom"]
        for name in derived { #expect(sent[name] == .derived, "\(name)") }
        for name in entries { #expect(sent[name] == .entries, "\(name)") }
        // A condition that all rows meet leaves nothing out.
        #expect(sent["whole"] == .derived)
        #expect(sent["t"] == .table)
    }

    @Test(arguments: ["UTF-16le", "UTF-16be"])
    func `in UTF-16 only an index in the order of bytes is left out`(encoding: String) throws {
        let sent = try Self.sent(encoding: encoding, Self.tables)
        for name in ["plain", "descending", "reals", "stored", "ofTree"] { #expect(sent[name] == .derived, "\(name)") }
        for name in ["noCase", "trimmed", "custom", "part"] { #expect(sent[name] == .entries, "\(name)") }
    }

    @Test func `an index over a column that was added later is left out once all rows have it`() throws {
        let sent = try Self.sent(
            """
            CREATE TABLE t (a); INSERT INTO t VALUES (1), (2); ALTER TABLE t ADD COLUMN b DEFAULT 7;
            ALTER TABLE t ADD COLUMN c; INSERT INTO t VALUES (3, 4, 5);
            CREATE INDEX t_a ON t(a); CREATE INDEX t_b ON t(b); CREATE INDEX t_c ON t(c);
            CREATE TABLE u (a); INSERT INTO u VALUES (1), (2); ALTER TABLE u ADD COLUMN b;
            UPDATE u SET b = 1; CREATE INDEX u_b ON u(b);
            """)
        #expect(sent["t_a"] == .derived)
        #expect(sent["t_b"] == .entries && sent["t_c"] == .entries)
        #expect(sent["u_b"] == .derived)
    }

    @Test func `an index with an entry of more than 32 KiB is sent`() throws {
        let sent = try Self.sent(
            """
            CREATE TABLE t (a, b); CREATE INDEX t_a ON t(a); CREATE INDEX t_b ON t(b);
            INSERT INTO t VALUES (zeroblob(32768 - 5), 1), (zeroblob(300000), zeroblob(32768 - 6));
            """)
        #expect(sent["t_a"] == .entries)
        #expect(sent["t_b"] == .derived)
    }

    @Test func `of a table with many indexes 64 are left out`() throws {
        let indexes = (0..<70).map { "CREATE INDEX i\($0) ON t(a, b\($0 % 2 == 0 ? " DESC" : ""));" }.joined()
        let sent = try Self.sent("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2), (3, 4); \(indexes)")
        #expect(sent.values.count { $0 == .derived } == 64)
        #expect(sent.values.count { $0 == .entries } == 6)
    }

    @Test func `an index that is not as its table says is sent`() throws {
        let folder = try ScratchFolder.inMemory()
        let copy = folder.path.appending("copy")
        let queue = try DatabaseQueue.repeatable(path: folder.path.appending("source"))
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    CREATE TABLE t (a); CREATE INDEX t_a ON t(a);
                    \(Self.numbers) INSERT INTO t SELECT 'value' || i FROM n
                    """)
        }
        try queue.vacuum(into: copy.string)
        #expect(try SentTree.all(in: WalkedStore(of: copy).elements) == [.table, .derived])
        // One entry is another: the row and the entry are the only places that have the word.
        var bytes = try PageReading.bytes(of: copy)
        let word = Array("value300".utf8)
        let place = try #require(
            bytes.indices.last { index in bytes[index...].starts(with: word) })
        bytes[place + 7] = UInt8(ascii: "1")
        try Data(bytes).write(to: URL(fileURLWithPath: copy.string))
        let store = try WalkedStore(of: copy)
        #expect(SentTree.all(in: store.elements) == [.table, .entries])
        #expect(try store.built().bytes == store.bytes)
    }

    @Test(arguments: ["NONE", "FULL"])
    func `a comparison finds any byte that is another`(autoVacuum: String) throws {
        let store = try WalkedStore(MadeStore(.hostile, pageSize: 512, autoVacuum: autoVacuum))
        let segments = try store.contents.map { try $0.encoded(.fast) }
        // A pointer map is compared as far as there are pages.
        let first = autoVacuum == "NONE" ? 0 : 1024
        for offset in stride(from: first, to: store.bytes.count, by: 43) {
            var changed = store.bytes
            changed[offset] ^= 0x40
            let original = Array(store.bytes[..<100]) + changed[100...]
            let comparison = PageComparison(with: try MemoryPages(original), pageSize: 512) { MemorySpill() }
            guard original != store.bytes else { continue }
            let builder = StoreBuilder(pageSize: 512, pageCount: store.pageCount) { _ in comparison }
            #expect(throws: (any Error).self, "offset \(offset)") { try segments.forEach(builder.append) }
        }
    }

    @Test func `a copy with any byte changed is walked to an end`() throws {
        let store = try WalkedStore(MadeStore(.hostile, pageSize: 512))
        var random = RepeatableRandom(seed: 3)
        var ends = [0, 0]
        for offset in stride(from: 0, to: store.bytes.count, by: 17) {
            var changed = store.bytes
            changed[offset] ^= UInt8.random(in: 1...255, using: &random)
            do {
                try StoreWalk.run(over: try MemoryPages(changed), shapes: [:]) { _ in }
                ends[0] += 1
            } catch is StoreFlaw {
                ends[1] += 1
            }
        }
        #expect(ends[0] > 50 && ends[1] > 20)
    }

    /// A record without values takes one byte: SQLite reads it as nulls.
    @Test func `a segment of the shortest rows has no more of them than it may`() throws {
        let count = SegmentLimits.rows + 100_000
        var store = try MemoryPages.canonicalForm(
            ofStoreMadeBy: """
                PRAGMA page_size = 65536; CREATE TABLE t (a);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO t SELECT NULL FROM n;
                """)
        for page in stride(from: 65_536, to: store.count, by: 65_536) where store[page] == TreeKind.table.leafType {
            for cell in 0..<(Int(store[page + 3]) << 8 | Int(store[page + 4])) {
                var place = page + (Int(store[page + 8 + 2 * cell]) << 8 | Int(store[page + 9 + 2 * cell]))
                store[place] = 1
                repeat { place += 1 } while store[place] >= 0x80
                store[place + 1] = 1
            }
        }
        var rows = 0
        try StoreWalk.run(over: try MemoryPages(store), shapes: [:], capacities: { (1 << 21, 1 << 21) }) { content in
            for case .rows(let group) in content.elements { rows += group.ends.count }
            #expect(throws: Never.self) { try content.encoded(.fast) }
        }
        #expect(rows == count + 1)
    }
}
