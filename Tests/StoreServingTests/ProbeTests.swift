import Foundation
import ShipProtocol
import StoreFiles
import StoreServing
import SystemPackage
import TestSupport
import Testing

@Suite struct ProbeTests {
    private let scratch: ScratchFolder
    private let path: FilePath

    init() throws {
        scratch = try ScratchFolder()
        path = scratch.path.appending("store.sqlite")
        try TestStore.make(
            at: path,
            sql: """
                CREATE TABLE recipe(id INTEGER PRIMARY KEY, title TEXT); INSERT INTO recipe VALUES (1, 'Tea'), (2, 'Soup');
                CREATE VIEW soups AS SELECT * FROM recipe WHERE title = 'Soup';
                """)
    }

    private func reason(_ sql: String, deadline: Duration = .seconds(30)) throws -> FailedProbe.Reason? {
        let size = try PlatformCalls.status(of: path).size
        let probes = [try StoreProbe(sql)]
        do throws(FailedProbe) {
            try probes.ask(at: path, size: size, deadline: deadline)
            return nil
        } catch {
            return error.reason
        }
    }

    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    @Test(
        arguments: [
            ("", .empty), (" -- nothing\n;", .empty), ("SELECT 1; SELECT 2", .severalStatements),
            ("SELECT * FROM later; SELECT 2", .severalStatements), ("CREATE TABLE t(a)", .writes), ("VACUUM", .writes),
            ("VACUUM INTO 'x'", .writes), ("PRAGMA journal_mode = WAL", .writes), ("PRAGMA user_version = 8", .writes),
            ("BEGIN", .givesNoRows), ("SELECT ?", .hasParameters),
            ("SELEC 1", .syntax("near \"SELEC\": syntax error")), ("SELECT (", .syntax("incomplete input")),
            ("SELECT count(*) FORM later", .syntax("near \"later\": syntax error")),
            ("DELETE FROM later", .writes),
            ("SELECT 1\0", .syntax("a NUL in the text")),
        ] as [(String, StoreProbe.Flaw)])
    func `a text that is no probe is refused before there is a store`(sql: String, flaw: StoreProbe.Flaw) {
        #expect(throws: flaw) { try StoreProbe(sql) }
    }

    @Test(arguments: [
        "SELECT 1", "select count(*) from later;", "SELECT 1; -- one\n/* and no more */ ;", "VALUES (1)", endless,
        "SELECT nofunction(a) FROM later", "PRAGMA user_version", "SELECT title FROM main.later WHERE a = 'x;y'",
        "WITH a AS (SELECT * FROM later) SELECT * FROM a",
    ])
    func `a text that may be one is taken`(sql: String) throws {
        #expect(try StoreProbe(sql).sql == sql)
    }

    @Test(arguments: [
        "1", "-1", "0.5", "'1x'", "x'31'", "9223372036854775807", "count(*) FROM recipe", "id FROM soups",
        "1 UNION ALL SELECT 0", "title GLOB 'T*' FROM recipe ORDER BY id", "1, 0", "TRUE",
    ])
    func `what SQLite counts as true passes`(expression: String) throws {
        #expect(try reason("SELECT \(expression)") == nil)
    }

    @Test(
        arguments: [
            ("0", .isZero("0")), ("0.0", .isZero("0.0")), ("'Soup'", .isZero("\"Soup\"")), ("''", .isZero("\"\"")),
            ("NULL", .isNull), ("1 WHERE 0", .noRow), ("id FROM recipe WHERE id > 2", .noRow),
            ("max(id) FROM recipe WHERE 0", .isNull),
            ("0, 1", .isZero("0")), ("count(*) FROM recipe WHERE id > 2", .isZero("0")),
        ] as [(String, FailedProbe.Reason)])
    func `what it does not fails`(expression: String, reason expected: FailedProbe.Reason) throws {
        #expect(try reason("SELECT \(expression)") == expected)
    }

    @Test func `what cannot be asked fails in SQLite's words`() throws {
        #expect(try reason("SELECT * FROM soup") == .failed("no such table: soup"))
        #expect(try reason("SELECT taste FROM recipe") == .failed("no such column: taste"))
        #expect(try reason("SELECT load_extension('x')") == .failed("not authorized"))
        #expect(try reason("SELECT abs(-9223372036854775808)") == .failed("integer overflow"))
    }

    @Test func `a question without an end is ended`() throws {
        #expect(try reason(Self.endless, deadline: .milliseconds(50)) == .tookTooLong(.milliseconds(50)))
    }

    @Test func `the first that fails is named, and nothing has changed`() throws {
        let probes = try ["SELECT 1", "SELECT 0", "SELECT NULL"].map { try StoreProbe($0) }
        let before = try FolderListing(of: scratch.path)
        #expect {
            try probes.ask(at: path, size: try PlatformCalls.status(of: path).size)
        } throws: { error in
            let failure = error as? FailedProbe
            return failure?.probe == probes[1] && failure?.reason == .isZero("0")
        }
        #expect(try FolderListing(of: scratch.path) == before)
    }
}
