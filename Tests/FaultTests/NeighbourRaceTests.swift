import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Two stores of one stem share a folder of external files. One command has found out which of them are its store's alone,
/// and stops before it removes them; then another command gives the neighbour rows that refer to one of them.
@Suite(.enabled("cc or LD_PRELOAD is missing") { try await FaultShim.isAvailable() })
struct NeighbourRaceTests {
    enum Remover: String, CaseIterable, Sendable { case restore, destroy, move, update }

    private let scratch: ScratchFolder
    private let desk: FilePath
    /// The file that both come to refer to.
    private let uuid: String
    private static let content = Data("shared".utf8)

    init() async throws {
        scratch = try .inMemory()
        desk = try scratch.folder("desk")
        for name in ["g", "h", "elsewhere"] { try PlatformCalls.makeFolder(desk.appending(name)) }
        let neighbour = try CoreDataSample(at: desk.appending("elsewhere/Recipes.db"))
        uuid = try neighbour.addPhoto(key: 7, content: Self.content)
        try await keep("elsewhere/Recipes.db", as: "neighbour")
    }

    private func keep(_ store: String, as name: String) async throws {
        try await run(["copy", store, "--keep-in", "kept"])
        let kept = try #require(try Folder.names(in: desk.appending("kept")).first { !$0.hasPrefix(".") })
        try PlatformCalls.rename(desk.appending("kept").appending(kept), to: desk.appending(name))
    }

    private func run(_ arguments: [String]) async throws {
        try await BuiltProgram.expectSuccess(arguments, in: desk)
    }

    /// - Returns: What is going to remove the file.
    private func prepare(_ remover: Remover) async throws -> [String] {
        if remover == .update {
            let source = try CoreDataSample(at: desk.appending("elsewhere/Recipes.sqlite"))
            try source.add(key: 7, cell: CoreDataSample.reference(2, uuid))
            let update = ["copy", "elsewhere/Recipes.sqlite", "--to", "g", "--as", "Recipes"]
            try await run(update)
            try TestStore.make(at: source.path, sql: "DELETE FROM ZPHOTO")
            return update
        }
        let store = try CoreDataSample(at: desk.appending("g/Recipes.sqlite"))
        try await keep("g/Recipes.sqlite", as: "older")
        try store.addPhoto(key: 7, content: Self.content, uuid: uuid)
        return switch remover {
        case .restore: ["restore", "older", "--over", "g/Recipes.sqlite"]
        case .destroy: ["destroy", "g/Recipes.sqlite"]
        case .move, .update: ["move", "g/Recipes.sqlite", "--to", "h", "--remove-old"]
        }
    }

    /// How many calls of that name the command makes until it comes to the one that is waited for.
    private func count(_ name: String, of arguments: [String], to end: String) async throws -> Int {
        let trial = scratch.path.appending("trial")
        try FileManager.default.copyItem(atPath: desk.string, toPath: trial.string)
        let log = scratch.path.appending("trial-calls")
        try await BuiltProgram.expectSuccess(
            arguments, environment: FaultShim.environment(only: [name], log: log), in: trial)
        let index = FaultShim.calls(in: log).firstIndex { call in
            call.path.hasSuffix(end) || call.target?.hasSuffix(end) == true
        }
        return try #require(index) + 1
    }

    /// Starts a command that stops right before the call.
    private func start(_ arguments: [String], stoppingAt name: String, to end: String) async throws -> ChildProgram {
        let number = try await count(name, of: arguments, to: end)
        let log = scratch.path.appending("calls")
        let program = try BuiltProgram.start(
            arguments, environment: FaultShim.environment(.stop, at: number, only: [name], log: log), in: desk)
        let deadline = ContinuousClock.now + .seconds(20)
        while FaultShim.calls(in: log).count < number, .now < deadline { try await Task.sleep(for: .milliseconds(5)) }
        return program
    }

    @Test(arguments: Remover.allCases)
    func `a file that one command removes is not what another counts on`(remover: Remover) async throws {
        let arguments = try await prepare(remover)
        let first = try await start(arguments, stoppingAt: "unlinkat", to: uuid)
        let second = try BuiltProgram.start(
            ["restore", "neighbour", "--over", "g/Recipes.db", "--busy-timeout", "60"], in: desk)
        try await Task.sleep(for: .seconds(1))
        #expect(!second.hasEnded, "it does not wait for its turn")
        first.signal(SIGCONT)
        for program in [first, second] {
            let outcome = try await program.wait()
            #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        }
        let files = try CoreDataSample.files(beside: desk.appending("g/Recipes.db"))
        #expect(files["_EXTERNAL_DATA/\(uuid)"] == Self.content)
    }

    @Test func `a command that found no folder removes nothing from one that has come`() async throws {
        // Its rows refer to a file that was lost.
        try CoreDataSample(at: desk.appending("g/Recipes.sqlite")).add(key: 7, cell: CoreDataSample.reference(2, uuid))
        let removal = try await start(
            ["destroy", "g/Recipes.sqlite"], stoppingAt: "fsync", to: "g/.ship-store-removal-Recipes.sqlite")
        try await BuiltProgram.expectSuccess(["restore", "neighbour", "--over", "g/Recipes.db"], in: desk)
        removal.signal(SIGCONT)
        let outcome = try await removal.wait()
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        let files = try CoreDataSample.files(beside: desk.appending("g/Recipes.db"))
        #expect(files == ["_EXTERNAL_DATA/\(uuid)": Self.content])
    }

    @Test func `the files of a new copy are locked until the copy is there`() async throws {
        let copy = try await start(
            ["copy", "elsewhere/Recipes.db", "--to", "copies"], stoppingAt: "linkat", to: ".sqlite")
        let names = try Folder.names(in: desk.appending("copies")).filter { $0.hasSuffix("_SUPPORT") }
        #expect(names.count == 1)
        for name in names {
            let lock = try FolderLock.take(.exclusive, on: desk.appending("copies").appending(name))
            let isFree = lock != nil
            #expect(!isFree)
        }
        copy.signal(SIGCONT)
        let outcome = try await copy.wait()
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
    }
}
