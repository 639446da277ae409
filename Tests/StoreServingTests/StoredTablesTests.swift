import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreInbox
import StoreServing
import SystemPackage
import TestSupport
import Testing

/// Which tables have other rows, as the stores themselves show it.
@Suite struct StoredTablesTests {
    private typealias TableChange = GenerationDifference.TableChange

    private let scratch: ScratchFolder
    private let inbox: SampleInbox

    init() throws {
        scratch = try ScratchFolder()
        inbox = try SampleInbox(keeping: 2, in: scratch)
    }

    @discardableResult
    private func install(
        _ sql: String, pageSize: Int = 4096, preparation: String = "", _ words: SampleWords = SampleWords()
    ) async throws -> Generation {
        let path = scratch.path.appending("\(UUID().uuidString).sqlite")
        let queue = try TestStore.open(path, preparation: "PRAGMA page_size = \(pageSize); \(preparation)")
        try await queue.write { try $0.execute(sql: sql) }
        try queue.close()
        return try await inbox.install(fileAt: path, words)
    }

    private func told() throws -> Told { Told(try StoreCoordinator(inbox: inbox.root).changes()) }

    /// Of a change from one store to the other: the tables' names, and their rows before and after.
    private func changes(from old: String, to new: String, preparation: String = "") async throws -> [String]? {
        try await install(old, preparation: preparation)
        let told = try told()
        try await install(new, preparation: preparation)
        return try await told.generation().difference.tables.map(Self.words)
    }

    private static func words(_ changes: [TableChange]) -> [String] {
        changes.map { change in
            "\(change.name) \(change.rowsBefore.map { "\($0)" } ?? "-") \(change.rowsAfter.map { "\($0)" } ?? "-")"
        }
    }

    private static let old = """
        CREATE TABLE gone(a); INSERT INTO gone VALUES (1), (2);
        CREATE TABLE same(a); INSERT INTO same VALUES ('x'), (zeroblob(20000)), (NULL);
        CREATE TABLE more(a); INSERT INTO more VALUES (1);
        CREATE TABLE other(a); INSERT INTO other VALUES (1), (zeroblob(9000));
        CREATE TABLE pairs(a PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO pairs VALUES ('k', 1), ('l', 1);
        CREATE TABLE counted(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted VALUES (7);
        """
    private static let new = """
        CREATE TABLE come(a);
        CREATE TABLE same(a); INSERT INTO same VALUES ('x'), (zeroblob(20000)), (NULL);
        CREATE TABLE more(a); INSERT INTO more VALUES (1), (2);
        CREATE TABLE other(a); INSERT INTO other VALUES (1), (zeroblob(8999) || x'01');
        CREATE TABLE pairs(a PRIMARY KEY, b) WITHOUT ROWID; INSERT INTO pairs VALUES ('k', 1), ('l', 2);
        CREATE TABLE counted(a INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted VALUES (7);
        """

    @Test(arguments: ["", "PRAGMA encoding = 'UTF-16le'", "PRAGMA encoding = 'UTF-16be'", "PRAGMA auto_vacuum = 1"])
    func `tables that came, went or changed are told with their rows`(preparation: String) async throws {
        let changes = try await changes(from: Self.old, to: Self.new, preparation: preparation)
        #expect(changes == ["come - 0", "gone 2 -", "more 1 2", "other 2 2", "pairs 2 2"])
    }

    @Test func `an index that is new changes no table`() async throws {
        let changes = try await changes(from: Self.old, to: Self.old + "CREATE INDEX i ON same(a)")
        #expect(changes == [])
    }

    @Test func `in a first shipment every table is new`() async throws {
        let told = try told()
        try await install(Self.new)
        let changes = try #require(try await told.generation().difference.tables)
        #expect(Self.words(changes) == ["come - 0", "counted - 1", "more - 2", "other - 2", "pairs - 2", "same - 3"])
    }

    /// Trusted or not: a sender that repeats what it said before does not hide what it has changed.
    @Test func `what a manifest says of its tables is not taken for true`() async throws {
        let claim = SampleWords(tables: ["t": SampleWords.table(1, "x"), "u": SampleWords.table(1, "x")])
        try await install("CREATE TABLE t(a); INSERT INTO t VALUES (1); CREATE TABLE u(a)", claim)
        let told = try told()
        try await install("CREATE TABLE t(a); INSERT INTO t VALUES (2); CREATE TABLE u(a)", claim)
        #expect(try await told.generation().difference.tables.map(Self.words) == ["t 1 1"])
        // Nor does one that says that all is other hide what is the same.
        let lie = SampleWords(tables: ["t": SampleWords.table(5, "y"), "v": SampleWords.table(1, "x")])
        try await install("CREATE TABLE t(a); INSERT INTO t VALUES (2); CREATE TABLE u(a); CREATE INDEX i ON t(a)", lie)
        #expect(try await told.generation().difference.tables == [])
    }

    @Test func `what is told is held against what was told before, though that is pruned`() async throws {
        try await install("CREATE TABLE t(a)")
        let told = try told()
        for rows in 1...5 {
            let values = (1...rows).map { "(\($0))" }.joined(separator: ", ")
            try await install("CREATE TABLE t(a); INSERT INTO t VALUES \(values)")
            #expect(try await told.generation().difference.tables.map(Self.words) == ["t \(rows - 1) \(rows)"])
        }
    }

    @Test func `where nobody can look any more it is said that it is not known`() async throws {
        try await install("CREATE TABLE t(a)")
        let told = try told()
        for rows in 1...4 { try await install("CREATE TABLE t(a); INSERT INTO t VALUES (\(rows))") }
        let change = try await told.generation()
        #expect([change.from?.number, change.to.number] == [1, 5])
        #expect(change.difference.tables == nil)
    }

    @Test func `the same store in another shipment has the same tables`() async throws {
        try await install(Self.old)
        let told = try told()
        try await install(Self.old, SampleWords(metadata: ["a": "b"]))
        let change = try await told.generation()
        #expect(change.difference.tables == [])
        #expect(change.difference.metadata["a"]?.after == "b")
    }
}
