import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Commands that change one folder of external files take turns: each waits as long as it was told to, and can be stopped.
@Suite struct SupportFolderTurnTests {
    /// Which folder each command waits for.
    enum Waiting: CaseIterable {
        case restore, restoreOfLost, destroy, moveAway, moveHere, moveOver, update

        var arguments: [String] {
            switch self {
            case .restore, .restoreOfLost: ["restore", "copy", "--over", "Recipes.sqlite"]
            case .destroy: ["destroy", "Recipes.sqlite"]
            case .moveAway: ["move", "Recipes.sqlite", "--to", "g", "--remove-old"]
            case .moveHere: ["move", "Recipes.sqlite", "--to", "h"]
            case .moveOver: ["move", "Recipes.sqlite", "--to", "i", "--replace"]
            case .update: ["copy", "Recipes.sqlite", "--to", "copies", "--as", "latest"]
            }
        }

        var folder: String {
            switch self {
            case .restore, .restoreOfLost, .destroy, .moveAway: ".Recipes_SUPPORT"
            case .moveHere: "h/.Recipes_SUPPORT"
            case .moveOver: "i/.Recipes_SUPPORT"
            case .update: "copies/.latest_SUPPORT"
            }
        }
    }

    private let desk: Desk
    private let recipes: CoreDataSample

    init() async throws {
        desk = try Desk()
        recipes = try CoreDataSample(at: desk["Recipes.sqlite"])
        try recipes.addEverything()
        for name in ["g", "h", "i"] { try PlatformCalls.makeFolder(desk[name]) }
        try PlatformCalls.makeFolder(desk["h/.Recipes_SUPPORT"])
        try await desk.run("copy", "Recipes.sqlite", "--to", "copies", "--as", "latest").expectSuccess()
        try await desk.run("move", "Recipes.sqlite", "--to", "i").expectSuccess()
        let kept = try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept")
        try PlatformCalls.rename(desk[try #require(kept.lines.first)], to: desk["copy"])
        try PlatformCalls.removeEmptyFolder(desk["kept"])
        try recipes.addPhoto(key: 80, content: Data("new".utf8))
    }

    private func prepare(_ waiting: Waiting) throws {
        if waiting == .restoreOfLost { try PlatformCalls.removeFile(recipes.path) }
        // A look at a store in WAL mode leaves these or removes them.
        for store in ["Recipes.sqlite", "i/Recipes.sqlite"] {
            for ending in ["-wal", "-shm"] { try? PlatformCalls.removeFile(desk[store + ending]) }
        }
    }

    /// Every name and every byte, but for folders that go with the command.
    private func content() throws -> [String: String] {
        let entries = try FolderListing(of: desk.path).entries.filter { entry in
            !entry.name.contains(".ship-store-") && !["-wal", "-shm"].contains { entry.name.hasSuffix($0) }
        }
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0.sha256 ?? "no file") })
    }

    @Test(arguments: Waiting.allCases)
    func `a command waits for its turn, and then does what it was to do`(waiting: Waiting) async throws {
        try prepare(waiting)
        let before = try content()
        var lock = try FolderLock.take(.exclusive, on: desk[waiting.folder])
        let isHeld = lock != nil
        try #require(isHeld)
        let program = try desk.start(waiting.arguments + ["--busy-timeout", "60"])
        try await Task.sleep(for: .milliseconds(800))
        #expect(!program.hasEnded)
        #expect(try content() == before)
        lock = nil
        let outcome = try await program.wait()
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(try content() != before)
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: Waiting.allCases)
    func `a command whose turn does not come gives up, and has touched nothing`(waiting: Waiting) async throws {
        try prepare(waiting)
        let before = try content()
        let lock = try FolderLock.take(.exclusive, on: desk[waiting.folder])
        defer { withExtendedLifetime(lock) {} }
        let isHeld = lock != nil
        try #require(isHeld)
        let folder = waiting == .update ? FilePath(waiting.folder) : desk[waiting.folder]
        try await desk.run(waiting.arguments + ["--busy-timeout", "0.3"]).expectFailure(
            75, "another command has been changing the external files in \(folder) for 0.3 seconds",
            hint: "try again when it has ended, or wait longer with --busy-timeout")
        #expect(try content() == before)
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: Waiting.allCases)
    func `a command that waits for its turn can be stopped`(waiting: Waiting) async throws {
        try prepare(waiting)
        let before = try content()
        let lock = try FolderLock.take(.exclusive, on: desk[waiting.folder])
        defer { withExtendedLifetime(lock) {} }
        let program = try desk.start(waiting.arguments + ["--busy-timeout", "60"])
        try await Task.sleep(for: .milliseconds(500))
        program.signal(SIGINT)
        #expect(try await program.wait(timeout: .seconds(20)).status == .exited(130))
        #expect(try content() == before)
        #expect(try desk.leftovers == [])
    }

    @Test func `nobody waits who only reads, or whose store has another stem`() async throws {
        try desk.makeStore("Other.sqlite")
        let lock = try FolderLock.take(.exclusive, on: recipes.supportFolder)
        defer { withExtendedLifetime(lock) {} }
        for arguments in [
            ["copy", "Recipes.sqlite", "--keep-in", "kept"], ["copy", "Recipes.sqlite", "--to", "g"],
            ["move", "Recipes.sqlite", "--to", "g"], ["destroy", "Recipes.sqlite", "--dry-run"],
            ["destroy", "Other.sqlite"],
        ] {
            let outcome = try await desk.run(arguments + ["--busy-timeout", "0.2"])
            #expect(outcome.status == .exited(0), "\(arguments) \(outcome.stderr)")
        }
    }

    @Test func `a command that puts no file there leaves no folder`() async throws {
        try desk.makeStore("Plain.sqlite")
        let restore = try await desk.run("restore", "copy", "--over", "Plain.sqlite")
        #expect(restore.status == .exited(65), "\(restore.stderr)")
        _ = try CoreDataSample(at: desk["Empty.sqlite"])
        try await desk.run("move", "Empty.sqlite", "--to", "g", "--remove-old").expectSuccess()
        #expect(try Folder.names(in: desk["g"]) == ["Empty.sqlite"])
        #expect(!(try Folder.names(in: desk.path).contains(".Plain_SUPPORT")))
    }

    @Test func `safety copies are not kept in the folder of external files`() async throws {
        let before = try content()
        let outcome = try await desk.run(
            "restore", "copy", "--over", "Recipes.sqlite", "--safety-copies", ".Recipes_SUPPORT")
        #expect(outcome.status == .exited(73))
        #expect(
            outcome.complaints.first
                == "ship-store: error: .Recipes_SUPPORT is the folder of external files of \(recipes.path)")
        #expect(try content() == before)
    }
}
