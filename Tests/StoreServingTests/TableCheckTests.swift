import Foundation
import ShipProtocol
import StoreFiles
import StoreServing
import SystemPackage
import TestSupport
import Testing

/// What a manifest says of the rows of each table, held against the store.
@Suite struct TableCheckTests {
    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE t(a); INSERT INTO t VALUES (1), ('x'), (zeroblob(300000));
                CREATE TABLE k(a PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO k VALUES (1, 2);
                CREATE TABLE counted(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted VALUES (7);
                CREATE INDEX i ON t(a); CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE words USING fts4(a);
                """)
    }

    private func flaw(of tables: [ForeignText: TableContent]?) throws -> StoreCheck.Flaw? {
        let claims = StoreClaims(store: try SampleFacts.of(path), tables: tables)
        do throws(StoreCheck.Flaw) {
            try StoreCheck().run(on: path, against: claims)
            return nil
        } catch {
            return error
        }
    }

    @Test func `what is told has to be so, of all tables and of no others`() throws {
        let right = try TableDigests.read(path).contents
        #expect(right["t"]?.rows == 3)
        #expect(right.keys.contains("words_content") && !right.keys.contains("sqlite_sequence"))
        #expect(try flaw(of: right) == nil)
        #expect(try flaw(of: nil) == nil)
        let other = TableContent(rows: 3, sha256: ContentDigest(hashing: []))
        let fewer = try TableDigestsOfOther(rows: 2).content
        for (name, content) in [
            ("t", other), ("t", nil), ("T", right["t"]), ("u", right["t"]), ("sqlite_sequence", other), ("t", fewer),
            ("v", other),
            ("i", other), ("k", right["t"]), ("words", other),
        ] as [(ForeignText, TableContent?)] {
            var wrong = right
            wrong[name] = content
            #expect(try flaw(of: wrong) == .contradictsManifest("tables"), "\(name)")
        }
        #expect(try flaw(of: [:]) == .contradictsManifest("tables"))
    }

    private struct TableDigestsOfOther {
        let content: TableContent

        init(rows: Int64) throws { content = TableContent(rows: rows, sha256: ContentDigest(hashing: [1])) }
    }
}
