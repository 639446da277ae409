import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A store of 0 bytes with a log beside it: SQLite takes it for an empty one and removes the log, which may have all its rows.
@Suite struct LogOfNothingTests {
    private let desk: Desk
    private let log: Data

    /// Of a store `name` with its rows in the log alone.
    init() throws {
        desk = try Desk()
        let queue = try TestStore.open(desk["made.sqlite"])
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        }
        log = try Data(contentsOf: URL(fileURLWithPath: "\(desk["made.sqlite"])-wal"))
        try queue.close()
    }

    private func empty(_ name: String) throws {
        try Data().write(to: URL(fileURLWithPath: desk[name].string))
        try log.write(to: URL(fileURLWithPath: "\(desk[name])-wal"))
    }

    private func hasLog(_ name: String) throws -> Bool {
        try Data(contentsOf: URL(fileURLWithPath: "\(desk[name])-wal")) == log
    }

    @Test(arguments: [
        ["verify", "A.sqlite"], ["inspect", "A.sqlite"], ["copy", "A.sqlite", "--to", "."],
        ["send", "A.sqlite", "--to", "./file"],
        ["send", "A.sqlite", "--to", "./file", "--dry-run"], ["metadata", "A.sqlite"],
        ["metadata", "A.sqlite", "--set", "a=b"], ["destroy", "A.sqlite"], ["destroy", "A.sqlite", "--dry-run"],
        ["move", "A.sqlite", "--to", "out"], ["move", "A.sqlite", "--to", "out", "--remove-old"],
        ["restore", "A.sqlite", "--over", "made.sqlite"],
    ])
    func `keeps its log, whatever is done to it`(arguments: [String]) async throws {
        try empty("A.sqlite")
        let outcome = try await desk.run(arguments)
        #expect(try hasLog("A.sqlite"))
        #expect(outcome.status == .exited(65), "\(outcome.stderr)")
    }

    @Test(arguments: ["db", "txt"])
    func `keeps it while something is done to a store beside it`(ending: String) async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        _ = try sample.addEverything()
        try empty("Photos.\(ending)")
        for arguments in [
            ["destroy", "Photos.sqlite", "--dry-run"], ["copy", "Photos.sqlite", "--keep-in", "kept"],
            ["destroy", "Photos.sqlite"],
        ] {
            let outcome = try await desk.run(arguments)
            #expect(outcome.status == .exited(0), "\(outcome.stderr)")
            #expect(try hasLog("Photos.\(ending)"))
        }
    }

    /// Two names of one store, whose log is beside the other.
    private func withTwoNames(_ body: () async throws -> Void) async throws {
        let queue = try TestStore.open(desk["made.sqlite"])
        defer { try? queue.close() }
        try await queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
        try PlatformCalls.hardLink(desk["made.sqlite"], as: desk["hard.sqlite"])
        try await body()
        #expect(try await queue.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1, 2])
    }

    @Test(arguments: [["move", "hard.sqlite", "--to", "out"], ["move", "hard.sqlite", "--to", "out", "--remove-old"]])
    func `a store whose log is beside another of its names is not moved`(arguments: [String]) async throws {
        try await withTwoNames {
            let outcome = try await desk.run(arguments)
            #expect(outcome.status == .exited(65), "\(outcome.stderr)")
            #expect(try PlatformCalls.isThere(desk["hard.sqlite"]) && !PlatformCalls.isThere(desk["out/hard.sqlite"]))
        }
    }

    @Test func `one name of a store goes, and what it has under the other stays`() async throws {
        try await withTwoNames {
            // Its app has it open.
            let outcome = try await desk.run("destroy", "hard.sqlite", "--busy-timeout", "0.2")
            #expect(outcome.status == .exited(75), "\(outcome.stderr)")
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: desk["made.sqlite"].string))
        try await desk.run("destroy", "hard.sqlite").expectSuccess()
        #expect(try Data(contentsOf: URL(fileURLWithPath: desk["made.sqlite"].string)) == before)
    }
}
