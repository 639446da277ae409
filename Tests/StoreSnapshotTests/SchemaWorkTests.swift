import GRDB
import GRDBSQLite
import StoreFormat
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import StoreSnapshot

/// What is read of a schema takes time in proportion to its tables. What is counted are SQLite's own steps.
@Suite struct SchemaWorkTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// - Returns: Hundreds of steps of SQLite's virtual machine.
    private func steps(_ tables: Int, _ body: (Database) throws -> Void) throws -> Int {
        let path = scratch.path.appending("\(tables).sqlite")
        let made = (0..<tables).map { number in
            "CREATE TABLE t\(number)(id INTEGER PRIMARY KEY AUTOINCREMENT, v TEXT COLLATE NOCASE UNIQUE); CREATE INDEX x\(number) ON t\(number)(v, id)"
        }
        try TestStore.make(at: path, sql: "BEGIN; \(made.joined(separator: ";")); COMMIT")
        let queue = try TestStore.open(path)
        defer { try? queue.close() }
        let steps = Steps()
        return try queue.unsafeRead { database in
            sqlite3_progress_handler(
                database.sqliteConnection, 100,
                { context in
                    context.map { Unmanaged<Steps>.fromOpaque($0).takeUnretainedValue() }?.hundreds
                        .add(1, ordering: .relaxed)
                    return 0
                }, Unmanaged.passUnretained(steps).toOpaque())
            defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
            try body(database)
            return steps.hundreds.load(ordering: .relaxed)
        }
    }

    private final class Steps: Sendable {
        let hundreds = Atomic(0)
    }

    private func expectLinear(_ body: (Database) throws -> Void, at location: SourceLocation = #_sourceLocation) throws
    {
        let (few, many) = (try steps(100, body), try steps(800, body))
        #expect(few > 10 && many < 12 * few, "\(few), \(many)", sourceLocation: location)
    }

    @Test func `the order of a copy's schema`() throws { try expectLinear { _ = try CompactOrder(of: $0) } }

    @Test func `the shapes of indexes`() throws { try expectLinear { _ = try IndexShape.all(in: $0) } }

    @Test func `tables to be left out`() throws {
        var profile = CopyProfile()
        profile.emptiedTables = ["t7"]
        try expectLinear { _ = try EmptiedTables(profile, .asFound, in: $0) }
    }
}
