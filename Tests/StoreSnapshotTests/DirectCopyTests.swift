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

    /// - Returns: Whether it was made of the pages; records an issue if that is another file.
    @discardableResult
    private func compare(_ comment: Comment? = nil) async throws -> Bool {
        let vacuumed = scratch.path.appending("vacuumed \(UUID().uuidString).sqlite")
        let pages = scratch.path.appending("pages \(UUID().uuidString).sqlite")
        let writable = try TestStore.open(path)
        try await writable.vacuum(into: vacuumed.string)
        let copy = try TestStore.open(pages)
        try writable.backup(to: copy)
        let watch = ConnectionWatch(interruption: Interruption(), busyTimeout: .seconds(1))
        let order = try await copy.unsafeRead { try? CompactSchema.order(of: $0, watch) } ?? nil
        try copy.close()
        try writable.close()
        let expected = try MemoryPages.canonicalForm(of: Array(Data(contentsOf: URL(fileURLWithPath: vacuumed.string))))
        let taken = try await SourceStore(at: path).compactCopy(in: scratch.path)
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: taken.path.string))) == expected, comment)
        guard let order else { return false }
        let target = scratch.path.appending("direct \(UUID().uuidString).sqlite")
        guard case .made = try CanonicalFile.make(of: pages, .pages(schemaOrder: order), as: target, Interruption())
        else { return false }
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: target.string))) == expected, comment)
        return true
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

    @Test(arguments: [
        "CREATE TABLE a(x); INSERT INTO a VALUES (1); PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'create table a(x)  '",
        "CREATE TABLE a(x INTEGER PRIMARY KEY AUTOINCREMENT); CREATE TABLE b(x); INSERT INTO a VALUES (4); DROP TABLE a",
    ])
    func `where VACUUM would write another schema it is vacuumed`(sql: String) async throws {
        try TestStore.make(at: path, sql: sql)
        #expect(try await !compare())
    }
}
