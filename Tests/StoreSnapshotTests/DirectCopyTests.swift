import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage
import TestSupport
import Testing

@testable import StoreSnapshot

/// The canonical form that is made of a store's pages is that of the copy which `VACUUM INTO` makes.
@Suite struct DirectCopyTests {
    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
    }

    /// - Returns: Whether it was made of the store's pages; records an issue if that is another file.
    @discardableResult
    private func compare(_ comment: Comment? = nil, isSound: Bool = true) async throws -> Bool {
        let vacuumed = scratch.path.appending("vacuumed \(UUID().uuidString).sqlite")
        let pages = scratch.path.appending("pages \(UUID().uuidString).sqlite")
        let writable = try TestStore.open(path)
        try await writable.vacuum(into: vacuumed.string)
        let copy = try TestStore.open(pages)
        try writable.backup(to: copy)
        let order = try await copy.unsafeRead { try? CompactOrder(of: $0) } ?? nil
        try copy.close()
        try writable.close()
        let expected = try MemoryPages.canonicalForm(of: vacuumed.content)
        do {
            let taken = try await SourceStore(at: path).compactCopy(in: scratch.path)
            #expect(try taken.path.content == expected, comment)
        } catch SnapshotError.corrupt {
            // The copy is the same, and as unsound as the store.
            #expect(!isSound, comment)
        }
        let isDirect = try canonicalForm(of: path).map { $0 == expected }
        #expect(isDirect != false, comment)
        guard let order else {
            #expect(isDirect == nil)
            return false
        }
        let target = scratch.path.appending("direct \(UUID().uuidString).sqlite")
        let watch = ConnectionWatch(interruption: Interruption(), busyTimeout: .zero)
        if case .success = try CanonicalSource.pages(pages, order).makeCanonical(as: target, watch) {
            #expect(try target.content == expected, comment)
        } else {
            #expect(isDirect == nil)
        }
        return isDirect == true
    }

    /// - Returns: What is made of the store's own pages; `nil` if that is nothing.
    private func canonicalForm(of store: FilePath) throws -> [UInt8]? {
        let folder = try scratch.folder("taken \(UUID().uuidString)")
        let canonical = folder.appending("canonical")
        let vacuum = VacuumInto(
            store: store, access: try SourceAccess(to: store, sidecars: Sidecars(beside: store)),
            profile: CopyProfile(), inCanonicalForm: true, marking: .asFound,
            watch: ConnectionWatch(interruption: Interruption(), busyTimeout: .seconds(1)),
            beginning: VacuumInto.Beginning())
        let written = try vacuum.write(to: folder.appending("vacuumed"), orAtOnceTo: canonical)
        guard case .canonical = written.form else { return nil }
        #expect(vacuum.beginning.isOver)
        return try canonical.content
    }

    @Test(arguments: SampleStore.allCases)
    func `it is the same of every kind of store`(store: SampleStore) async throws {
        try store.make(at: path, journalMode: "WAL")
        let isDirect = try await compare()
        #expect(isDirect || store == .noTables || store == .unknownModule, "\(store)")
    }

    @Test func `it is the same whatever was done to the store before`() async throws {
        var random = RepeatableRandom(seed: 20)
        for round in 0..<12 {
            try? PlatformCalls.removeFile(path)
            let pageSize = [512, 1024, 4096].randomElement(using: &random) ?? 512
            let vacuum = ["NONE", "FULL", "INCREMENTAL"].randomElement(using: &random) ?? "NONE"
            try TestStore.make(
                at: path, sql: "PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(vacuum); CREATE TABLE t0(a, b)")
            var tables = 1
            for _ in 0..<60 {
                let table = "t\(Int.random(in: 0..<tables, using: &random))"
                let key = Int.random(in: 0..<200, using: &random)
                let statement =
                    switch Int.random(in: 0..<12, using: &random) {
                    case 0: "CREATE TABLE t\(tables)(a UNIQUE, b, UNIQUE(b, a))"
                    case 1: "CREATE TABLE t\(tables)(id INTEGER PRIMARY KEY AUTOINCREMENT, a, b)"
                    case 2: "CREATE TABLE t\(tables)(a, b, PRIMARY KEY(b DESC, a)) WITHOUT ROWID"
                    case 3: "CREATE INDEX IF NOT EXISTS i\(key) ON \(table)(b DESC, a)"
                    case 4: "CREATE VIEW IF NOT EXISTS v\(key) AS SELECT a FROM \(table)"
                    case 5: "DROP VIEW IF EXISTS v\(key); DROP INDEX IF EXISTS i\(key + 1)"
                    case 6: "DELETE FROM \(table) WHERE abs(b) % 3 = 0"
                    case 7: "ANALYZE"
                    case 8: "ALTER TABLE \(table) ADD COLUMN c\(key) DEFAULT 7"
                    default:
                        """
                        WITH RECURSIVE n(i) AS (SELECT \(key) UNION ALL SELECT i + 1 FROM n WHERE i < \(key + 70))
                        INSERT OR REPLACE INTO \(table)(a, b) SELECT zeroblob(i * 7 % 900), i * 37 % 1009 FROM n ORDER BY i % 11
                        """
                    }
                // What is there already stays.
                if (try? TestStore.make(at: path, sql: statement)) != nil, statement.hasPrefix("CREATE TABLE") {
                    tables += 1
                }
            }
            #expect(try await compare("round \(round)"), "round \(round)")
        }
    }

    /// `VACUUM INTO` looks for the places of the entries of such an index, and puts those of others one behind the other.
    @Test(arguments: ["NOCASE", "RTRIM", "BINARY"])
    func `entries that are not in their order come to where VACUUM puts them`(collation: String) async throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE a(x, y PRIMARY KEY COLLATE \(collation)) WITHOUT ROWID;
                CREATE TABLE b(x COLLATE \(collation)); CREATE INDEX i ON b(x);
                INSERT INTO a VALUES (1, 'one'), (2, 'Two'), (3, 'Up '), (4, 'up'); INSERT INTO b SELECT y FROM a;
                """)
        #expect(try await compare())
        let whole = try path.content
        for (name, isIndex) in [("a", false), ("i", true)] {
            var bytes = whole
            let root = try await TestStore.open(path).read { database in
                try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_schema WHERE name = ?", arguments: [name])
            }
            // The first two cells change places.
            let pointers = (try #require(root) - 1) * 4096 + 8
            #expect(bytes[pointers - 8] == 10)
            (bytes[pointers], bytes[pointers + 1], bytes[pointers + 2], bytes[pointers + 3]) =
                (bytes[pointers + 2], bytes[pointers + 3], bytes[pointers], bytes[pointers + 1])
            try Data(bytes).write(to: URL(fileURLWithPath: path.string))
            let isDirect = try await compare("\(name), \(isIndex)", isSound: false)
            #expect(isDirect == (collation == "BINARY"), "\(name)")
        }
    }

    @Test func `a damaged store gives the same, or is vacuumed, or refused`() async throws {
        try TestStore.make(
            at: path,
            sql: """
                PRAGMA page_size = 512; CREATE TABLE t(a UNIQUE, b COLLATE NOCASE, c REAL); CREATE INDEX i ON t(b, c);
                CREATE TABLE w(a, b, PRIMARY KEY(b, a)) WITHOUT ROWID;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                    INSERT INTO t SELECT i * i, 'Text ' || i % 37, i / 3.0 FROM n;
                INSERT INTO t VALUES (zeroblob(3000), 1, 2); INSERT INTO w SELECT c, b FROM t;
                """)
        let whole = try path.content
        var random = RepeatableRandom(seed: 16)
        var counts = (direct: 0, vacuumed: 0, refused: 0)
        for round in 0..<400 {
            var bytes = whole
            for _ in 0...(round % 3) {
                let place = Int.random(in: 100..<bytes.count, using: &random)
                // More often where the pages and the cells begin.
                let near = round % 2 == 0 ? place / 512 * 512 + place % 40 : place
                if near >= 100 { bytes[near] = UInt8.random(in: 0...255, using: &random) }
            }
            if round % 50 == 0 { bytes.removeLast(512 * (1 + round / 50)) }
            try Data(bytes).write(to: URL(fileURLWithPath: path.string))
            let made: [UInt8]
            do throws(SnapshotError) {
                let form = try Result { try canonicalForm(of: path) }.mapError { error in
                    error as? SnapshotError ?? .cancelled
                }.get()
                guard let form else {
                    counts.vacuumed += 1
                    continue
                }
                made = form
            } catch {
                #expect(error != .cancelled)
                counts.refused += 1
                continue
            }
            counts.direct += 1
            let vacuumed = scratch.path.appending("vacuumed \(round)")
            let queue = try TestStore.open(path)
            // What SQLite does not make at all, its check of the copy would have found.
            guard (try? await queue.vacuum(into: vacuumed.string)) != nil else { continue }
            #expect(try made == MemoryPages.canonicalForm(of: vacuumed.content), "round \(round)")
        }
        #expect(counts.direct > 50 && counts.vacuumed + counts.refused > 50, "\(counts)")
    }

    @Test func `texts with a zero byte in an index that ignores case are left to VACUUM`() async throws {
        try TestStore.make(
            at: path, sql: "CREATE TABLE a(x COLLATE NOCASE UNIQUE); INSERT INTO a VALUES ('a' || char(0) || 'b')")
        #expect(try await !compare())
    }

    @Test func `a key in another order than the columns is no damage`() async throws {
        try TestStore.make(
            at: path,
            sql: "CREATE TABLE t(a, b, PRIMARY KEY(b, a)) WITHOUT ROWID; INSERT INTO t VALUES (1, 2), ('x', x'00')")
        #expect(try await compare())
    }
}
