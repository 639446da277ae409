import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `copy --as`: a copy of a fixed name, which the next one replaces in one step.
@Suite struct CopyUpdateTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    @Test func `the same name is updated, with its external files, and who has the old one open keeps it`() async throws
    {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let uuids = try sample.addEverything()
        let copy = ["copy", "Photos.sqlite", "--to", "copies", "--as", "latest"]
        try await desk.run(copy).expectSuccess()
        let path = desk["copies/latest.sqlite"]
        #expect(try CoreDataSample.files(beside: path) == CoreDataSample.files(beside: sample.path))
        let reader = try DatabaseQueue(
            path: path.string,
            configuration: {
                var c = Configuration(); c.readonly = true; return c
            }())
        #expect(try await reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZPHOTO") } == 4)
        try TestStore.make(at: sample.path, sql: "DELETE FROM ZPHOTO WHERE Z_PK = 62")
        try sample.addPhoto(key: 70, content: Data("new".utf8))
        let outcome = try await desk.run(copy).expectSuccess()
        #expect(outcome.lines == ["copies/latest.sqlite"])
        #expect(try StoreContent(of: path) == StoreContent(of: sample.path))
        #expect(try CoreDataSample.files(beside: path).count == 2)
        #expect(try CoreDataSample.files(beside: path)["_EXTERNAL_DATA/\(uuids[0])"] == nil)
        #expect(try await reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZPHOTO WHERE Z_PK = 62") } == 1)
        try reader.close()
        #expect(try Folder.names(in: desk["copies"]) == [".latest_SUPPORT", "latest.sqlite"])
    }

    @Test func `what is not an older copy stays`() async throws {
        _ = try CoreDataSample(at: desk["Photos.sqlite"])
        try desk.makeStore()
        try PlatformCalls.makeFolder(desk["folder.sqlite"])
        try Data("a letter".utf8).write(to: URL(fileURLWithPath: desk["letter.txt"].string))
        let before = try FolderListing(of: desk.path)
        for name in ["Photos.sqlite", "letter.txt", "folder.sqlite"] {
            try await desk.run("copy", "Recipes.sqlite", "--to", ".", "--as", name).expectFailure(
                73, "./\(name) is in the way: nothing shows that it is an older copy", hint: "move it away")
        }
        try await desk.run("copy", "Recipes.sqlite", "--to", ".", "--as", "Recipes").expectFailure(
            64, "./Recipes.sqlite is named twice", hint: "name two different places")
        for name in ["../a", ".hidden", "a.sqlite-wal", ""] {
            #expect(try await desk.run("copy", "Recipes.sqlite", "--to", ".", "--as", name).status == .exited(64))
        }
        #expect(try FolderListing(of: desk.path) == before)
        #expect(try desk.leftovers == [])
    }

    @Test func `a copy that somebody writes to is not replaced`() async throws {
        try desk.makeStore()
        let copy = ["copy", "Recipes.sqlite", "--to", ".", "--as", "copy"]
        try await desk.run(copy).expectSuccess()
        let queue = try TestStore.open(desk["copy.sqlite"])
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = WAL; DELETE FROM recipe")
        }
        let outcome = try await desk.run(copy)
        #expect(outcome.status == .exited(73))
        #expect(outcome.complaints[0].contains("in the way: SQLite would take it for a part of the new store"))
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") } == 0)
        try queue.close()
    }

    @Test func `a store of an app that rests is no copy, although it has the same tables`() async throws {
        try desk.makeStore()
        try desk.makeStore("Other.sqlite", rows: 7)
        let before = try StoreContent(of: desk["Other.sqlite"])
        // The last connection that closes removes the log.
        try desk.execute("PRAGMA wal_checkpoint(TRUNCATE)", in: "Other.sqlite")
        #expect(!FileManager.default.fileExists(atPath: desk["Other.sqlite-wal"].string))
        let outcome = try await desk.run("copy", "Recipes.sqlite", "--as", "Other.sqlite")
        #expect(outcome.status == .exited(73))
        #expect(outcome.complaints[0].contains("Other.sqlite is in the way"), "\(outcome.stderr)")
        #expect(!FileManager.default.fileExists(atPath: desk["Other.sqlite-wal"].string))
        #expect(try StoreContent(of: desk["Other.sqlite"]) == before)
    }

    @Test func `a store without a log is no copy either`() async throws {
        for (name, title) in [("App", "tea"), ("Notes", "mine")] {
            try TestStore.make(
                at: desk["\(name).sqlite"],
                sql: "PRAGMA journal_mode = DELETE; CREATE TABLE note(text); INSERT INTO note VALUES ('\(title)')")
        }
        let before = try StoreContent(of: desk["Notes.sqlite"])
        let outcome = try await desk.run("copy", "App.sqlite", "--as", "Notes.sqlite")
        #expect(outcome.status == .exited(73))
        #expect(outcome.complaints[0].contains("Notes.sqlite is in the way"), "\(outcome.stderr)")
        #expect(try StoreContent(of: desk["Notes.sqlite"]) == before)
        try await desk.run("copy", "App.sqlite", "--as", "copy.sqlite").expectSuccess()
        try desk.execute("INSERT INTO note VALUES ('juice')", in: "App.sqlite")
        try await desk.run("copy", "App.sqlite", "--as", "copy.sqlite").expectSuccess()
        #expect(try StoreContent(of: desk["copy.sqlite"]) == StoreContent(of: desk["App.sqlite"]))
    }

    @Test func `a copy is updated after a migration, as long as no table has gone`() async throws {
        func copy(_ store: String, _ options: [String] = []) async throws -> ChildProgram.Outcome {
            try await desk.run(["copy", store, "--to", "copies", "--as", "latest"] + options)
        }
        try desk.makeStore()
        try await copy("Recipes.sqlite").expectSuccess()
        let changes: [(sql: String, options: [String])] = [
            ("ALTER TABLE recipe ADD COLUMN stars", []), ("CREATE TABLE draft(text)", ["--exclude", "draft"]),
            ("PRAGMA user_version = 7; CREATE INDEX byStars ON recipe(stars)", ["--exclude", "draft"]),
        ]
        for (sql, options) in changes {
            try desk.execute(sql, in: "Recipes.sqlite")
            try await copy("Recipes.sqlite", options).expectSuccess()
        }
        try await desk.run("metadata", "Recipes.sqlite", "--set", "region=eu", "-q").expectSuccess()
        try await copy("Recipes.sqlite").expectSuccess()
        #expect(try StoreContent(of: desk["copies/latest.sqlite"]) == StoreContent(of: desk["Recipes.sqlite"]))
        // Of another store, for all that can be seen; of one without anything; and of one that has a table of the same name, as apps do.
        let others = [
            "CREATE TABLE tea(name)", "CREATE TABLE gone(a); DROP TABLE gone",
            "CREATE TABLE tea(name); CREATE TABLE recipe(title)",
        ]
        for sql in others {
            try TestStore.make(
                at: desk["Other.sqlite"], sql: "DROP TABLE IF EXISTS tea; \(sql)")
            try await copy("Other.sqlite").expectFailure(
                73, "copies/latest.sqlite is in the way: nothing shows that it is an older copy", hint: "move it away")
        }
        #expect(try StoreContent(of: desk["copies/latest.sqlite"]) == StoreContent(of: desk["Recipes.sqlite"]))
        #expect(try desk.leftovers == [])
    }

    @Test func `a store that is not there is not the copy that is not there either`() async throws {
        try await desk.run("copy", "nothing.sqlite", "--to", ".", "--as", "copy").expectFailure(
            66, "there is no store at nothing.sqlite", hint: "check the path")
    }

    @Test func `several stores are copied at once`() async throws {
        for name in ["a.sqlite", "b.sqlite"] { try desk.makeStore(name) }
        let outcome = try await desk.run("copy", "a.sqlite", "b.sqlite", "--to", "copies").expectSuccess()
        #expect(outcome.lines.count == 2 && outcome.lines[1].hasPrefix("copies/b-"))
    }
}
