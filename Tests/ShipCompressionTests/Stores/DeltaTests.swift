import GRDB
import StoreFormat
import StoreSnapshot
import SystemPackage
import TestSupport
import Testing

@testable import ShipCompression

/// Two states of a store, and the delta between them.
struct DeltaOfStores {
    let base: [UInt8]
    let new: [UInt8]
    let shapes: [String: IndexShape]
    let segments: [[UInt8]]

    /// - Parameters:
    ///   - first: Makes the store.
    ///   - second: Makes it what it is to be.
    ///   - form: Of the new copy.
    init(
        encoding: String = "UTF-8", pageSize: Int = 1024, _ first: String, _ second: String,
        effort: SegmentEffort = .smallest, isCanonical: Bool = true
    ) throws {
        let folder = try ScratchFolder.inMemory()
        let queue = try DatabaseQueue(path: folder.path.appending("source").string)
        func copy(_ sql: String, to name: String) throws -> FilePath {
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            let copy = folder.path.appending(name)
            try queue.vacuum(into: copy.string)
            return copy
        }
        let settings = "PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(encoding)';"
        let (old, new) = (try copy(settings + first, to: "old"), try copy(second, to: "new"))
        try queue.close()
        try self.init(of: old, new, effort: effort, isCanonical: isCanonical)
    }

    /// - Parameters: Compact copies.
    init(of old: FilePath, _ new: FilePath, effort: SegmentEffort = .smallest, isCanonical: Bool = true) throws {
        func bytes(of copy: FilePath) throws -> [UInt8] {
            let bytes = try PageReading.bytes(of: copy)
            return isCanonical ? try MemoryPages.canonicalForm(of: bytes) : bytes
        }
        let copy = try DatabaseQueue(path: new.string)
        shapes = try copy.unsafeRead { try IndexShapes.all(in: $0) }
        try copy.close()
        (base, self.new) = (try bytes(of: old), try bytes(of: new))
        segments = try Self.segments(base, self.new, isCanonical ? shapes : nil, effort)
    }

    static func segments(
        _ base: [UInt8], _ new: [UInt8], _ shapes: [String: IndexShape]?, _ effort: SegmentEffort,
        limit: Int64 = .max
    ) throws -> [[UInt8]] {
        let segments = Collected()
        let encoder = DeltaEncoder(
            from: try MemoryPages(base), to: try MemoryPages(new), shapes: shapes, effort: effort
        ) { MemorySpill() }
        try encoder.encode(limit: limit) { segment, position in
            segments.all.append(segment.bytes)
            segments.isEnded = position == .last
        }
        #expect(segments.isEnded)
        return segments.all
    }

    private final class Collected {
        var all: [[UInt8]] = []
        var isEnded = false
    }

    /// In bytes.
    var size: Int { segments.reduce(0) { $0 + $1.count } }

    /// Applies segments to a base.
    ///
    /// - Returns: The file.
    func applied(_ segments: [[UInt8]]? = nil, to base: [UInt8]? = nil) throws -> [UInt8] {
        let wanted = try MemoryPages(new)
        let target = MemoryPages(pageSize: wanted.pageSize, mostPages: wanted.pageCount)
        let builder = DeltaBuilder(
            base: try MemoryPages(base ?? self.base), pageSize: wanted.pageSize, pageCount: wanted.pageCount
        ) { _ in target }
        for segment in segments ?? self.segments { try builder.append(segment) }
        try builder.finish()
        return target.bytes
    }
}

@Suite struct DeltaTests {
    private static let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"

    private static let tables = """
        CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a INTEGER, b TEXT, c REAL, d BLOB);
        CREATE TABLE w (k TEXT, n INTEGER, v, PRIMARY KEY (n DESC, k)) WITHOUT ROWID;
        CREATE TABLE o (x);
        \(numbers) INSERT INTO t SELECT i * 2, i % 9, 'Word ' || hex(i * 2654435761 % 65521), i / 4.0, x'0102' FROM n;
        \(numbers) INSERT INTO w SELECT 'k' || i, i % 5, i % 7 FROM n;
        INSERT INTO o VALUES (1), ('two'), (NULL);
        CREATE INDEX ta ON t(a); CREATE INDEX tb ON t(b COLLATE NOCASE, c DESC); CREATE INDEX wv ON w(v);
        CREATE INDEX part ON t(a) WHERE a > 3;
        """

    /// What is done to it, and how many bytes say so, at most.
    @Test(arguments: [
        ("", 16), ("UPDATE t SET a = 77 WHERE id = 500", 40), ("UPDATE t SET c = c + 1 WHERE id % 100 = 0", 60),
        ("UPDATE t SET b = b || ' more' WHERE id % 50 = 0", 80), ("DELETE FROM t WHERE id % 40 = 0", 60),
        ("DELETE FROM t", 40), ("INSERT INTO t SELECT id + 1, a, b, c, d FROM t WHERE id % 100 = 0", 400),
        ("UPDATE t SET id = id + 100001", 60), ("UPDATE w SET v = v + 1 WHERE n = 3", 400),
        ("DELETE FROM w WHERE v = 3", 700), ("INSERT INTO w VALUES ('new', 3, 4)", 60),
        ("CREATE INDEX td ON t(d, a)", 90), ("DROP INDEX ta", 40), ("CREATE TABLE p (q); INSERT INTO p VALUES (5)", 90),
        ("DROP TABLE o", 40), ("ALTER TABLE t RENAME TO renamed", 40_000), ("ALTER TABLE o ADD COLUMN y DEFAULT 3", 60),
        ("ALTER TABLE t DROP COLUMN d", 700), ("PRAGMA user_version = 9", 16), ("PRAGMA page_size = 4096; VACUUM", 16),
        ("PRAGMA auto_vacuum = FULL; VACUUM", 16), ("INSERT INTO t(b) VALUES (zeroblob(400000))", 600),
        ("CREATE TABLE copy AS SELECT * FROM t", 40_000),
    ])
    func `a change comes out as it was, in few bytes`(change: (sql: String, most: Int)) throws {
        let delta = try DeltaOfStores(Self.tables, change.sql)
        #expect(try delta.applied() == delta.new)
        #expect(delta.size <= change.most)
    }
}
