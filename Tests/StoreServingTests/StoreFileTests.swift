import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreServing
import SystemPackage
import TestSupport
import Testing

@Suite struct StoreFileTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func make(_ name: String, rows: Int, journalMode: String = "DELETE") throws -> FilePath {
        let path = scratch.path.appending(name)
        let values = (1...rows).map { "(\($0))" }.joined(separator: ", ")
        try TestStore.make(
            at: path, sql: "PRAGMA journal_mode = \(journalMode); CREATE TABLE t(a); INSERT INTO t VALUES \(values)")
        return path
    }

    private func rows(_ coordinator: StoreCoordinator, _ selection: StoreSelection = .only) throws -> Int? {
        try coordinator.read(selection) { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
    }

    @Test func `files have an order and names`() throws {
        let soups = StoreFile.settled(try make("Soups.sqlite", rows: 1))
        let teas = StoreFile.live(try make("Teas.sqlite", rows: 2, journalMode: "WAL"))
        let coordinator = try StoreCoordinator(files: [teas, soups])
        #expect(try coordinator.stores.map(\.text) == ["Teas", "Soups"])
        #expect(try rows(coordinator, 0) == 2)
        #expect(try rows(coordinator, "Soups") == 1)
        #expect(throws: CoordinatorError.noSuchIndex(2, count: 2)) { try rows(coordinator, 2) }
        #expect(throws: CoordinatorError.noSuchStore("Cakes")) { try rows(coordinator, "Cakes") }
        #expect(throws: CoordinatorError.hasNoGenerations(soups.name)) { try coordinator.pin("Soups") }
        #expect(throws: CoordinatorError.sameName(soups.name)) { try StoreCoordinator(files: [soups, soups]) }
        let renamed = StoreFile.settled(soups.path, name: StoreName("Broths"))
        #expect(try rows(StoreCoordinator(files: [soups, renamed]), "Broths") == 1)
    }

    @Test func `a file in WAL mode is not settled`() throws {
        let path = try make("Recipes.sqlite", rows: 1, journalMode: "WAL")
        let coordinator = try StoreCoordinator(files: [.settled(path)])
        #expect(throws: CoordinatorError.inWALMode(path)) { try rows(coordinator) }
        #expect(try Folder.names(in: scratch.path) == ["Recipes.sqlite"])
        let app = try TestStore.open(path)
        try app.read { _ in }
        #expect(throws: CoordinatorError.hasSidecar(path, FilePath(path.string + "-wal"))) {
            try rows(coordinator)
        }
        try app.close()
    }

    @Test func `a settled file that is replaced is read anew, and one that is gone is an error`() throws {
        let path = try make("Recipes.sqlite", rows: 1)
        let coordinator = try StoreCoordinator(files: [.settled(path)])
        for rows in 2...9 {
            #expect(try self.rows(coordinator) == rows - 1)
            try PlatformCalls.rename(try make("next.sqlite", rows: rows), to: path)
        }
        #expect(try rows(coordinator) == 9)
        try PlatformCalls.removeFile(path)
        #expect(throws: CoordinatorError.noSuchStore("Recipes")) { try rows(coordinator) }
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `a live file is read as last committed, and its app's locks stay`(journalMode: String) async throws {
        let path = try make("Recipes.sqlite", rows: 1, journalMode: journalMode)
        let app = try TestStore.open(path)
        let coordinator = try StoreCoordinator(files: [.live(path, busyTimeout: .milliseconds(50))])
        for rows in 2...5 {
            try await app.write { try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: [rows]) }
            #expect(try self.rows(coordinator) == rows)
        }
        // A writer of this process: nothing that a reader opens and closes may drop its lock.
        try await app.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES (6)") }
        for _ in 0..<3 {
            let another = try StoreCoordinator(files: [.live(path)])
            #expect(try rows(another) == 5)
        }
        let outcome = try await ChildProgram(
            "/usr/bin/env", ["sqlite3", path.string, "INSERT INTO t VALUES (0)"]
        ).wait()
        #expect(outcome.stderr.contains("locked"))
        try await app.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try rows(coordinator) == 6)
        try app.close()
    }

    @Test func `a live file that is locked for long is SQLite's error`() async throws {
        let path = try make("Recipes.sqlite", rows: 1)
        let coordinator = try StoreCoordinator(files: [.live(path, busyTimeout: .milliseconds(20))])
        let app = try TestStore.open(path)
        try await app.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let error = #expect(throws: DatabaseError.self) { try rows(coordinator) }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try await app.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try rows(coordinator) == 1)
        try app.close()
    }
}
