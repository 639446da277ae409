import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `move` and `destroy`: a store with all that belongs to it.
@Suite struct MoveCommandTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    @Test(arguments: ["WAL", "DELETE"])
    func `a moved store has every row, its journal mode, its mode bits and its files`(mode: String) async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"], journalMode: mode)
        try sample.addEverything()
        try PlatformCalls.changeMode(of: sample.path, to: [.ownerReadWrite, .groupReadWrite])
        let (content, files) = (try StoreContent(of: sample.path), try CoreDataSample.files(beside: sample.path))
        try await desk.run("move", "Photos.sqlite", "--to", "Group").expectSuccess()
        #expect(try StoreContent(of: sample.path) == content)
        let outcome = try await desk.run("move", "Photos.sqlite", "--to", "Group/Inner", "--remove-old").expectSuccess()
        #expect(outcome.lines == [desk["Group/Inner/Photos.sqlite"].string])
        for path in [desk["Group/Photos.sqlite"], desk["Group/Inner/Photos.sqlite"]] {
            #expect(try StoreContent(of: path) == content)
            #expect(try CoreDataSample.files(beside: path) == files)
            #expect(try PlatformCalls.status(of: path).permissions == [.ownerReadWrite, .groupReadWrite])
            let queue = try TestStore.open(path)
            let found = try await queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
            #expect(found == mode.lowercased())
            try queue.close()
        }
        #expect(try Folder.names(in: desk.path) == ["Group"])
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: ["is missing", "is another"])
    func `a store of which an external file is not at the new place does not count as moved`(flaw: String) async throws
    {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let photo = try #require(try sample.addEverything().first)
        let (content, files) = (try StoreContent(of: sample.path), try CoreDataSample.files(beside: sample.path))
        try await desk.run("move", "Photos.sqlite", "--to", "Group").expectSuccess()
        let moved = CoreDataSample(desk["Group/Photos.sqlite"]).file("_EXTERNAL_DATA", photo)
        try PlatformCalls.removeFile(moved)
        if flaw == "is another" { try Data("other".utf8).write(to: URL(fileURLWithPath: moved.string)) }
        let outcome = try await desk.run("move", "Photos.sqlite", "--to", "Group", "--remove-old")
        #expect(outcome.status == .exited(73))
        #expect(try StoreContent(of: sample.path) == content)
        #expect(try CoreDataSample.files(beside: sample.path) == files)
    }

    @Test func `a store that an app has open is not removed`() async throws {
        let store = try desk.makeStore()
        let queue = try TestStore.open(store)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO recipe(title) VALUES ('last')") }
        for arguments in [["move", "Recipes.sqlite", "--to", "Group", "--remove-old"], ["destroy", "Recipes.sqlite"]] {
            let outcome = try await desk.run(arguments + ["--busy-timeout", "0.2"])
            outcome.expectFailure(
                75, "another program has \(store) open, and kept it so for 0.2 seconds",
                hint: "close the app that uses it, then try again, or wait longer with --busy-timeout")
        }
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") } == 4)
        try queue.close()
        try await desk.run("move", "Recipes.sqlite", "--to", "Group", "--remove-old").expectSuccess()
        let moved = try StoreContent(of: desk["Group/Recipes.sqlite"])
        #expect(moved.tables["recipe"]?.count == 4)
    }

    @Test func `a store in the way stays, unless it is to be replaced`() async throws {
        try desk.makeStore(rows: 5)
        try PlatformCalls.makeFolder(desk["Group"])
        try desk.makeStore("Group/Recipes.sqlite", rows: 2)
        let before = try StoreContent(of: desk["Group/Recipes.sqlite"])
        let outcome = try await desk.run("move", "Recipes.sqlite", "--to", "Group", "--remove-old")
        #expect(outcome.status == .exited(73))
        #expect(try StoreContent(of: desk["Group/Recipes.sqlite"]) == before)
        let content = try StoreContent(of: desk["Recipes.sqlite"])
        // Its app has it open, and sees it change.
        let queue = try TestStore.open(desk["Group/Recipes.sqlite"])
        try await desk.run("move", "Recipes.sqlite", "--to", "Group", "--remove-old", "--replace").expectSuccess()
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") } == 5)
        try queue.close()
        #expect(try StoreContent(of: desk["Group/Recipes.sqlite"]) == content)
        #expect(try Folder.names(in: desk.path) == ["Group"])
        #expect(try Folder.names(in: desk["Group/.Recipes-safety"]).count == 1)
    }

    @Test func `a store that cannot be removed is not put at its new place`() async throws {
        try desk.makeStore()
        let obstacle = desk[".ship-store-removal-Recipes.sqlite"]
        _ = try OpenFile.creating(obstacle)
        let outcome = try await desk.run("move", "Recipes.sqlite", "--to", "Group", "--remove-old")
        #expect(outcome.complaints.first?.contains("\(obstacle)") == true && outcome.status != .exited(0))
        #expect(try !PlatformCalls.isThere(desk["Group"]))
        try PlatformCalls.removeFile(obstacle)
        try await desk.run("move", "Recipes.sqlite", "--to", "Group", "--remove-old").expectSuccess()
        #expect(try Folder.names(in: desk.path) == ["Group"])
    }

    @Test func `destroy leaves nothing of the store, and nothing else`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        try sample.addEverything()
        // A log that a killed app left.
        let queue = try TestStore.open(sample.path)
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "INSERT INTO ZRECIPE(ZNAME) VALUES ('in the log')")
        }
        let log = FilePath(sample.path.string + "-wal")
        try FileManager.default.copyItem(atPath: log.string, toPath: desk["log"].string)
        try queue.close()
        try FileManager.default.moveItem(atPath: desk["log"].string, toPath: log.string)
        try desk.makeStore()
        try await desk.run("destroy", "Photos.sqlite").expectSuccess()
        #expect(try Folder.names(in: desk.path) == ["Recipes.sqlite"])
        try await desk.run("destroy", "Photos.sqlite").expectFailure(
            66, "there is no store at Photos.sqlite", hint: "check the path")
        try Data("no store".utf8).write(to: URL(fileURLWithPath: desk["letter"].string))
        try await desk.run("destroy", "letter").expectFailure(
            65, "\(desk["letter"]) is not a SQLite database, or it is encrypted",
            hint: "check the path; --force removes it all the same, with its -wal, -shm and -journal")
        #expect(try Folder.names(in: desk.path) == ["Recipes.sqlite", "letter"])
    }

    @Test(arguments: [["destroy", "team/Photos.sqlite"], ["move", "team/Photos.sqlite", "--to", "g", "--remove-old"]])
    func `a store goes from a folder of a group, and another may come`(arguments: [String]) async throws {
        try PlatformCalls.makeFolder(desk["team"])
        try PlatformCalls.changeMode(
            of: desk["team"], to: [.setGroupID, .ownerReadWriteExecute, .groupReadWriteExecute])
        for _ in 1...2 {
            try CoreDataSample(at: desk["team/Photos.sqlite"]).addEverything()
            try await desk.run(arguments).expectSuccess()
            #expect(try Folder.names(in: desk["team"]) == [])
            try Folder.removeTree(at: desk["g"])
        }
    }

    @Test func `a store that comes while a damaged file is judged stays`() async throws {
        try Data("no store at all".utf8).write(to: URL(fileURLWithPath: desk["Recipes.sqlite"].string))
        try desk.makeStore("good.sqlite")
        let content = try StoreContent(of: desk["good.sqlite"])
        // A neighbour of its stem, which is waited for once the file has been judged.
        try TestStore.make(at: desk["Recipes.db"], sql: "CREATE TABLE t(a)")
        let queue = try TestStore.open(desk["Recipes.db"])
        try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let destroying = try desk.start("destroy", "Recipes.sqlite", "--force", "--busy-timeout", "20")
        try await Task.sleep(for: .seconds(1))
        try PlatformCalls.rename(desk["good.sqlite"], to: desk["Recipes.sqlite"])
        try await queue.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try queue.close()
        let outcome = try await destroying.wait(timeout: .seconds(60))
        #expect(outcome.status != .exited(0), "\(outcome.stderr)")
        #expect(try StoreContent(of: desk["Recipes.sqlite"]) == content)
    }

    @Test func `move says what it did, and what that means`() async throws {
        try desk.makeStore()
        let copied = try await desk.run("move", "Recipes.sqlite", "--to", "Group").expectSuccess()
        #expect(copied.stderr.hasPrefix("copied Recipes.sqlite: "))
        #expect(copied.stderr.contains("Recipes.sqlite is still there: two stores of one identity"))
        try await desk.run("move", "Recipes.sqlite", "--to", "Group").expectFailure(
            73, "there is a store at \(desk["Group/Recipes.sqlite"]) already",
            hint: "say --replace to give it the content of this one, or move it away")
        try Data("a letter".utf8).write(to: URL(fileURLWithPath: desk["Group/Tea.sqlite"].string))
        try desk.makeStore("Tea.sqlite")
        try await desk.run("move", "Tea.sqlite", "--to", "Group").expectFailure(
            73, "\(desk["Group/Tea.sqlite"]) is in the way: nothing shows that it is an older copy",
            hint: "move it away")
        let moved = try await desk.run("move", "Tea.sqlite", "--to", "Other", "--remove-old")
        #expect(moved.stderr.hasPrefix("moved Tea.sqlite: ") && !moved.stderr.contains("still there"))
    }

    @Test func `a folder that others may write to is nobody's leftover, whatever its name`() async throws {
        try desk.makeStore("Tea.sqlite")
        let folder = desk[".ship-store-removal-Tea.sqlite"]
        try PlatformCalls.makeFolder(folder)
        try PlatformCalls.changeMode(of: folder, to: FilePermissions(rawValue: 0o755))
        try OpenFile.creating(folder.appending("moved-to")).write([1])
        #expect(try await desk.run("destroy", "Tea.sqlite").status != .exited(0))
        #expect(try Folder.names(in: folder) == ["moved-to"])
        #expect(try PlatformCalls.isThere(desk["Tea.sqlite"]))
    }

    @Test(arguments: [["destroy", "link"], ["move", "link", "--to", "g", "--remove-old"]])
    func `a store that is named by a link goes with the link`(arguments: [String]) async throws {
        try PlatformCalls.makeFolder(desk["data"])
        let sample = try CoreDataSample(at: desk["data/Photos.sqlite"])
        try sample.addEverything()
        let files = try CoreDataSample.files(beside: sample.path)
        try await desk.shell("ln -s data/Photos.sqlite between; ln -s ./between link; ln -s data/Photos.sqlite other")
            .expectSuccess()
        let outcome = try await desk.run(arguments).expectSuccess()
        #expect(outcome.stderr.contains("the symbolic link link is gone too"))
        #expect(try Folder.names(in: desk["data"]) == [])
        // A link that was not named is not ours.
        #expect(
            try Folder.names(in: desk.path) == (arguments[0] == "move" ? ["data", "g", "other"] : ["data", "other"]))
        if arguments[0] == "move" { #expect(try CoreDataSample.files(beside: desk["g/link"]) == files) }
        try await desk.run("destroy", "other").expectFailure(66, "there is no store at other", hint: "check the path")
        #expect((try? PlatformCalls.status(of: desk["other"])) != nil)
    }

    @Test func `a dry run says what would go and what would stay, beside an app, and removes nothing`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        try sample.addEverything()
        let files = try CoreDataSample.files(beside: sample.path).keys.sorted().map {
            sample.supportFolder.appending(FilePath($0).components).string
        }
        try await desk.shell("echo note > .Photos_SUPPORT/note; ln -s Photos.sqlite link").expectSuccess()
        let queue = try TestStore.open(sample.path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "INSERT INTO ZRECIPE(ZNAME) VALUES ('x')") }
        let before = try FolderListing(of: desk.path).names
        let outcome = try await desk.run("destroy", "link", "--dry-run")
        let note = sample.supportFolder.appending("note")
        #expect(outcome.status == .exited(0))
        #expect(outcome.complaints == ["ship-store: warning: \(note) stays: no store refers to it"])
        let sidecars = ["-wal", "-shm"].map { sample.path.string + $0 }
        #expect(outcome.lines == (["link", sample.path.string] + sidecars + files).map { "would go  \($0)" })
        let object = try await desk.run("destroy", "Photos.sqlite", "--dry-run", "--json").objects().first
        #expect(object?["wouldGo"] as? [String] == [sample.path.string] + sidecars + files)
        #expect((object?["remainingFiles"] as? [[String: Any]])?.first?["reason"] as? String == "unexplained")
        #expect(try FolderListing(of: desk.path).names == before)
        #expect(
            try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZRECIPE WHERE ZNAME = 'x'") } == 1)
        try queue.close()
    }
}
