import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A copy that came without something says so itself, wherever it is moved, and is not taken for a whole store.
@Suite struct IncompleteCopyTests {
    private let desk: Desk
    private let store: FilePath

    init() throws {
        desk = try Desk()
        store = desk["Photos.sqlite"]
        try CoreDataSample(at: store).addEverything()
    }

    @Test(arguments: [
        (["--strip-history"], "the history"), (["--exclude", "ZRECIPE"], "the rows of ZRECIPE"),
        (["--without-external-over", "0"], "external file"),
    ])
    func `it is refused wherever it has been moved, unless one says so`(
        options: [String], words: String
    ) async throws {
        let whole = try StoreContent(of: store)
        let files = try CoreDataSample.files(beside: store)
        let copied = try await desk.run(["copy", "Photos.sqlite", "--to", "backups"] + options).expectSuccess()
        let kept = try await desk.run(["copy", "Photos.sqlite", "--keep-in", "kept"] + options).expectSuccess()
        // Away from everything that could say it.
        try PlatformCalls.makeFolder(desk["elsewhere"])
        try PlatformCalls.rename(desk[try #require(copied.lines.first)], to: desk["elsewhere/one.sqlite"])
        let name = FilePath(try #require(copied.lines.first)).stem ?? ""
        try? PlatformCalls.rename(desk["backups/.\(name)_SUPPORT"], to: desk["elsewhere/.one_SUPPORT"])
        let keptFolder = try #require(kept.lines.first)
        try FileManager.default.copyItem(
            atPath: desk[keptFolder].appending("Photos.sqlite").string, toPath: desk["elsewhere/two.sqlite"].string)
        try? FileManager.default.copyItem(
            atPath: desk[keptFolder].appending(".Photos_SUPPORT").string, toPath: desk["elsewhere/.two_SUPPORT"].string)
        for copy in ["elsewhere/one.sqlite", "elsewhere/two.sqlite", keptFolder] {
            let before = try FolderListing(of: desk.path)
            let outcome = try await desk.run("restore", copy, "--over", "Photos.sqlite")
            #expect(outcome.status == .exited(65), "\(outcome.stderr)")
            #expect(outcome.complaints.first?.contains("came without \(words == "external file" ? "" : words)") == true)
            #expect(outcome.stderr.contains(words) && outcome.stderr.contains("say --incomplete"))
            #expect(try FolderListing(of: desk.path) == before)
            let taken = try await desk.run(
                "restore", copy, "--over", "Photos.sqlite", "--incomplete", "--no-safety-copy"
            ).expectSuccess()
            #expect(taken.stderr.contains("left out: "))
            // The store is whole by definition: its copies do not say otherwise.
            let queue = try TestStore.open(store)
            #expect(try await queue.read { try $0.tableExists("ship_store_omissions") } == false)
            try queue.close()
            let restored = try StoreContent(of: store)
            #expect(Set(restored.tables.keys) == Set(whole.tables.keys))
            // What was left out of the copy and is still there stays.
            #expect(try CoreDataSample.files(beside: store) == files)
            if options == ["--exclude", "ZRECIPE"] { #expect(restored.tables["ZRECIPE"] == []) }
        }
    }

    @Test func `a copy of such a copy says it as well, and a complete one says nothing`() async throws {
        try await desk.run("copy", "Photos.sqlite", "--to", ".", "--as", "less.sqlite", "--exclude", "ZRECIPE")
            .expectSuccess()
        try await desk.run("copy", "less.sqlite", "--to", ".", "--as", "again.sqlite", "--exclude", "ZPHOTO")
            .expectSuccess()
        let queue = try TestStore.open(desk["again.sqlite"])
        let rows = try await queue.read {
            try String.fetchAll($0, sql: "SELECT kind || ' ' || name FROM ship_store_omissions")
        }
        try queue.close()
        #expect(rows == ["table ZPHOTO", "table ZRECIPE"])
        let outcome = try await desk.run("restore", "again.sqlite", "--over", "Photos.sqlite")
        #expect(outcome.stderr.contains("came without the rows of ZPHOTO, ZRECIPE"), "\(outcome.stderr)")
        for arguments in [["whole.sqlite"], ["same.sqlite", "--without-external-over", "1G"]] {
            try await desk.run(["copy", "Photos.sqlite", "--to", ".", "--as"] + arguments).expectSuccess()
            let whole = try TestStore.open(desk[arguments[0]])
            #expect(try await whole.read { try $0.tableExists("ship_store_omissions") } == false)
            try whole.close()
            try await desk.run("restore", arguments[0], "--over", "Photos.sqlite").expectSuccess()
        }
    }

    @Test func `it does not take the place of a store by being moved over it`() async throws {
        try PlatformCalls.makeFolder(desk["Group"])
        try await desk.run("copy", "Photos.sqlite", "--to", "Group").expectSuccess()
        let target = try #require(try Folder.names(in: desk["Group"]).first { $0.hasSuffix(".sqlite") })
        try await desk.run("copy", "Photos.sqlite", "--to", ".", "--as", target, "--exclude", "ZRECIPE").expectSuccess()
        let outcome = try await desk.run("move", target, "--to", "Group", "--replace")
        #expect(outcome.status == .exited(65) && outcome.stderr.contains("--incomplete"), "\(outcome.stderr)")
        try await desk.run("move", target, "--to", "Group", "--replace", "--incomplete").expectSuccess()
        let content = try StoreContent(of: desk["Group/\(target)"])
        #expect(content.tables["ZRECIPE"] == [] && content.tables["ship_store_omissions"] == nil)
    }

    /// Receivers may know a store by its schema.
    @Test func `a shipment has the schema of its store`() async throws {
        try await desk.run("send", "Photos.sqlite", "--to", "./less.shipment", "--exclude", "ZRECIPE").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./less.shipment").expectSuccess()
        let queue = try TestStore.open(desk["inbox/Photos.sqlite"])
        #expect(try await queue.read { try $0.tableExists("ship_store_omissions") } == false)
        try queue.close()
        let outcome = try await desk.run("restore", "inbox/Photos.sqlite", "--over", "Photos.sqlite")
        #expect(outcome.stderr.contains("came without the rows of ZRECIPE"), "\(outcome.stderr)")
    }

    @Test func `a table of that name that is not ours is left alone`() async throws {
        try TestStore.make(
            at: desk["odd.sqlite"],
            sql: "CREATE TABLE ship_store_omissions(a); CREATE TABLE t(b); INSERT INTO t VALUES (1)")
        try await desk.run("copy", "odd.sqlite", "--to", ".", "--as", "copy.sqlite").expectSuccess()
        try await desk.run("restore", "copy.sqlite", "--over", "odd.sqlite").expectSuccess()
        try await desk.run("copy", "odd.sqlite", "--to", ".", "--as", "less.sqlite", "--exclude", "t").expectFailure(
            65, "the copy cannot say what it comes without: the store has a table ship_store_omissions of its own",
            hint: "take a complete copy")
    }
}
