import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct CutOffRestoreTests {
    private let scratch: ScratchFolder
    private let desk: FilePath

    init() throws {
        scratch = try .inMemory()
        desk = try scratch.folder("desk")
    }

    private var safetyCopies: [String] {
        get throws { try Folder.names(in: desk.appending(".Recipes-safety")).filter { !$0.hasPrefix(".") } }
    }

    /// Where the transaction begins, in the calls that a restore makes which nobody cuts off.
    private func callBeforeTransaction(_ restore: [String]) async throws -> Int {
        let (trial, log) = (scratch.path.appending("trial"), scratch.path.appending("trial-calls"))
        try FileManager.default.copyItem(atPath: desk.string, toPath: trial.string)
        try await BuiltProgram.expectSuccess(
            restore, environment: FaultShim.environment(only: ["open"], log: log), in: trial)
        let index = FaultShim.calls(in: log).firstIndex { $0.path.hasSuffix("trial/Recipes.sqlite-journal") }
        return try #require(index) + 1
    }

    @Test func `a restore that was killed once it had kept the store, and goes on, keeps it once`() async throws {
        let store = desk.appending("Recipes.sqlite")
        try TestStore.make(at: store, sql: "CREATE TABLE tea(a); INSERT INTO tea VALUES (1)")
        let kept = try await BuiltProgram.run(["copy", "Recipes.sqlite", "--keep-in", "kept"], in: desk)
        let restore = ["restore", try #require(kept.lines.first), "--over", "Recipes.sqlite"]
        try TestStore.make(at: store, sql: "INSERT INTO tea VALUES (2)")
        let content = try StoreContent(of: store)
        let call = try await callBeforeTransaction(restore)
        let killed = try await BuiltProgram.run(
            restore,
            environment: FaultShim.environment(.kill, at: call, only: ["open"], log: scratch.path.appending("calls")),
            in: desk)
        #expect(killed.status == .signalled(SIGKILL))
        let first = try safetyCopies
        try #require(first.count == 1)
        #expect(try StoreContent(of: store) == content)

        try await BuiltProgram.expectSuccess(restore, in: desk)
        let left = try safetyCopies
        #expect(left.count == 1 && left != first, "\(left)")
        for name in left {
            let copy = desk.appending(".Recipes-safety").appending(name).appending("Recipes.sqlite")
            #expect(try StoreContent(of: copy) == content)
        }
    }
}
