import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreServing
import SystemPackage
import TestSupport
import Testing

/// What a manifest says was left out of a store, held against the store.
@Suite struct OmissionCheckTests {
    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
    }

    private func flaw(
        history: Bool = false, tables: [ForeignText] = [], files: [ExternalFileName] = []
    ) throws -> StoreCheck.Flaw? {
        let omissions = Omissions(
            history: history, tables: tables, externalFiles: files.map { Omissions.OmittedFile(name: $0, size: 1) })
        let claims = StoreClaims(store: try SampleFacts.of(path), omissions: omissions)
        do throws(StoreCheck.Flaw) {
            try StoreCheck().run(on: path, against: claims)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a table that was emptied is there, and empty`() throws {
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE full(a); INSERT INTO full VALUES (NULL);
                CREATE TABLE [an empty "one](a, b);
                CREATE TABLE pairs(a PRIMARY KEY) WITHOUT ROWID;
                CREATE VIEW seen AS SELECT 1 WHERE 0;
                CREATE VIRTUAL TABLE words USING fts4(a);
                """)
        #expect(try flaw(tables: ["an empty \"one", "pairs"]) == nil)
        for table: ForeignText in ["full", "none", "seen", "words", "FULL", "Pairs", ""] {
            #expect(try flaw(tables: ["pairs", table]) == .contradictsManifest("omissions.tables"), "\(table)")
        }
    }

    @Test func `an index that is empty hides no row`() throws {
        try TestStore.make(
            at: path,
            sql: """
                -- Wide, so that a look at the index alone seems cheaper.
                CREATE TABLE t(a, b, c, d, e, f, g); CREATE INDEX i ON t(a); INSERT INTO t(a) VALUES (1);
                CREATE TABLE u(a); CREATE INDEX j ON u(a);
                CREATE TEMP TABLE roots AS SELECT name, rootpage FROM sqlite_schema WHERE name IN ('i', 'j');
                PRAGMA writable_schema = ON;
                UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM roots WHERE roots.name <> sqlite_master.name)
                    WHERE name IN ('i', 'j');
                """)
        let limits = CheckLimits(fullCheckSize: 0)
        let claims = StoreClaims(
            store: try SampleFacts.of(path), omissions: Omissions(history: false, tables: ["t"], externalFiles: []))
        #expect(throws: StoreCheck.Flaw.contradictsManifest("omissions.tables")) {
            try StoreCheck(limits: limits).run(on: path, against: claims)
        }
    }

    @Test func `the history that was left out has no rows`() throws {
        let tables = "CREATE TABLE ACHANGE(a); CREATE TABLE ATRANSACTION(a); CREATE TABLE ATRANSACTIONSTRING(a);"
        try TestStore.make(at: path, sql: tables + "INSERT INTO ATRANSACTIONSTRING VALUES (1)")
        #expect(try flaw(history: true) == nil)
        try TestStore.make(at: path, sql: "INSERT INTO ATRANSACTION VALUES (1)")
        #expect(try flaw(history: true) == .contradictsManifest("omissions.history"))
        #expect(try flaw() == nil)
    }

    @Test func `an external file that was left out is referred to`() throws {
        let names = try (1...4).map(SampleWords.file)
        func cell(_ tag: String, _ name: ExternalFileName, _ end: String = "00") -> String {
            "x'\(tag)' || CAST('\(name.uuid)' AS BLOB) || x'\(end)'"
        }
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE ZPHOTO(Z_PK INTEGER PRIMARY KEY, ZSMALL BLOB, ZDATA BLOB, ZTITLE VARCHAR);
                INSERT INTO ZPHOTO VALUES (1, x'01aa', CAST(\(cell("02", names[0])) AS BLOB), NULL);
                INSERT INTO ZPHOTO VALUES (2, CAST(\(cell("02", names[1], "")) AS BLOB), NULL, NULL);
                INSERT INTO ZPHOTO VALUES (3, NULL, CAST(\(cell("02", names[2], "0000")) AS BLOB), NULL);
                CREATE TABLE other(Z_PK INTEGER PRIMARY KEY, ZDATA BLOB);
                INSERT INTO other VALUES (1, CAST(\(cell("02", names[3])) AS BLOB));
                """)
        #expect(try flaw(files: [names[0], names[1]]) == nil)
        let inOtherFolder = try #require(ExternalFileName(folder: .fileBacked, uuid: names[0].uuid))
        for name in [names[2], names[3], inOtherFolder] {
            #expect(try flaw(files: [names[0], name]) == .contradictsManifest("omissions.externalFiles"), "\(name)")
        }
    }
}
