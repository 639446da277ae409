import GRDB
import StoreFiles
import StoreOperations
import SystemPackage
import TestSupport
import Testing

/// The look whether a store has been moved already: after it the original goes.
@Suite struct SameRowsTests {
    private let scratch: ScratchFolder
    private let busyHandler = BusyHandler(busyTimeout: .zero)

    init() throws { scratch = try ScratchFolder.inMemory() }

    private func make(_ name: String, _ sql: String, encoding: String = "UTF-8") throws -> FilePath {
        let path = scratch.path.appending(name)
        try TestStore.make(at: path, preparation: "PRAGMA encoding = '\(encoding)'; PRAGMA synchronous = OFF", sql: sql)
        return path
    }

    private func areSame(_ one: FilePath, _ other: FilePath) throws -> Bool {
        try LiveConnection(to: one, busyHandler).hasSameRows(as: other, busyHandler)
    }

    /// Literals of SQL of which some are equal to Swift, or to SQL's own `=`, and no two are the same value of a store.
    private static let values = [
        "NULL", "0", "0.0", "1", "1.0", "9007199254740992", "9007199254740993", "9007199254740992.0",
        "0.1", "0.30000000000000004", "0.3", "'1'", "'1.0'", "''", "X''", "X'31'", "'k'", "X'6B'",
        // NUL in a text, composed and decomposed, and bytes that are no UTF-8.
        "CAST(X'6B006F6C64' AS TEXT)", "CAST(X'6B006E6577' AS TEXT)", "X'6B006F6C64'", "CAST(X'636166C3A9' AS TEXT)",
        "CAST(X'63616665CC81' AS TEXT)", "CAST(X'FF41' AS TEXT)", "CAST(X'FE41' AS TEXT)", "CAST(X'EFBFBD41' AS TEXT)",
    ]

    @Test(arguments: ["UTF-8", "UTF-16le"])
    func `rows are the same where each value has the same type and the same bytes`(encoding: String) throws {
        var random = RepeatableRandom(seed: 20)
        // What is no UTF-8 is changed on its way into UTF-16.
        let values = encoding == "UTF-8" ? Self.values : Self.values.filter { !$0.contains("CAST") }
        for number in 0..<(Soak.isOn ? 400 : 40) {
            let row = (0..<3).map { _ in values[Int.random(in: values.indices, using: &random)] }
            var changed = row
            let column = Int.random(in: 0..<3, using: &random)
            changed[column] = values[Int.random(in: values.indices, using: &random)]
            let stores = try [row, changed].enumerated().map { index, row in
                try make(
                    "\(number)-\(index)",
                    """
                    CREATE TABLE t(a, b, c); INSERT INTO t VALUES (1, 2, 3);
                    INSERT INTO t VALUES (\(row.joined(separator: ", ")))
                    """, encoding: encoding)
            }
            #expect(try areSame(stores[0], stores[1]) == (row == changed), "\(row) and \(changed)")
        }
    }

    @Test(
        arguments: [
            "UPDATE t SET _rowid_ = _rowid_ + 100", "UPDATE k SET _rowid_ = _rowid_ + 100", "PRAGMA user_version = 9",
            "PRAGMA application_id = 9", "UPDATE w SET b = 2.0", "UPDATE g SET a = '\u{e9}'", "DELETE FROM t",
            "ANALYZE",
            "CREATE INDEX t_a ON t(a)",
        ])
    func `a store that has changed in anything is another one`(change: String) throws {
        let content = """
            CREATE TABLE t(a); INSERT INTO t VALUES ('a'), ('b'); CREATE INDEX t_all ON t(a);
            CREATE TABLE k(rowid TEXT, oid); INSERT INTO k VALUES ('a', 1);
            CREATE TABLE w(a PRIMARY KEY, b, oid) WITHOUT ROWID; INSERT INTO w VALUES (1, 2, 3);
            CREATE TABLE g(a TEXT, b AS (length(a)), "quo""te"); INSERT INTO g(a) VALUES ('e\u{301}');
            """
        let stores = try [make("one", content), make("other", content)]
        #expect(try areSame(stores[0], stores[1]))
        try TestStore.make(at: stores[1], sql: change)
        #expect(try !areSame(stores[0], stores[1]))
        #expect(try !areSame(stores[1], stores[0]))
    }

    @Test(arguments: SampleStore.allCases.filter { ![.unknownModule, .noTables].contains($0) })
    func `what VACUUM INTO makes of a store is the same`(sample: SampleStore) throws {
        let (store, copy) = (scratch.path.appending("store"), scratch.path.appending("copy"))
        try sample.make(at: store)
        try TestStore.make(at: store, sql: "VACUUM INTO '\(copy)'")
        #expect(try areSame(store, copy))
    }
}
