import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `restore`: a live store gets the content of a copy.
@Suite struct RestoreCommandTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    /// Keeps a copy of a Core Data store, and changes everything in the store after that.
    private func keepAndChange() async throws -> (store: FilePath, copy: String, files: [String: Data]) {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        try sample.addEverything()
        let files = try CoreDataSample.files(beside: sample.path)
        let outcome = try await desk.run("copy", "Photos.sqlite", "--keep-in", "kept").expectSuccess()
        let copy = try #require(outcome.lines.first)
        try PlatformCalls.removeFile(sample.supportFolder.pushing(FilePath(files.keys.sorted()[0])))
        try sample.addPhoto(key: 64, content: Data("new".utf8))
        try TestStore.make(at: sample.path, sql: "DELETE FROM ZPHOTO WHERE Z_PK < 64; DELETE FROM ACHANGE")
        return (sample.path, copy, files)
    }

    @Test func `all rows, history, keys and external files come back, and the old ones are kept`() async throws {
        let (store, copy, files) = try await keepAndChange()
        let before = try StoreContent(of: store)
        let outcome = try await desk.run("restore", copy, "--over", "Photos.sqlite", "--json").expectSuccess()
        #expect(try StoreContent(of: store) == StoreContent(of: desk["\(copy)/Photos.sqlite"]))
        #expect(try CoreDataSample.files(beside: store) == files)
        let safety = try #require(try outcome.objects()[0]["safetyCopy"] as? String)
        #expect(FilePath(safety).removingLastComponent() == desk[".Photos-safety"])
        #expect(outcome.stderr.contains("the store as it was is kept as \(safety)"))
        #expect(try StoreContent(of: FilePath(safety).appending("Photos.sqlite")) == before)
        #expect(try desk.leftovers == [])
        // The way back is another restore.
        try await desk.run("restore", safety, "--over", "Photos.sqlite", "--no-safety-copy").expectSuccess()
        #expect(try StoreContent(of: store) == before)
        #expect(try CoreDataSample.files(beside: store).values.contains(Data("new".utf8)))
        #expect(try Folder.names(in: desk[".Photos-safety"]).count == 1)
    }

    @Test func `the store stays in its journal mode and keeps its page size`() async throws {
        for (mode, pageSize) in [("WAL", 1024), ("DELETE", 1024), ("WAL", 4096), ("TRUNCATE", 4096)] {
            let name = "\(mode)\(pageSize).sqlite"
            try SampleStore.plain.make(at: desk["copy-of-\(name)"], journalMode: "DELETE", pageSize: 4096)
            try SampleStore.checks.make(at: desk[name], journalMode: mode, pageSize: pageSize)
            try await desk.run("restore", "copy-of-\(name)", "--over", name, "--any-identity").expectSuccess()
            #expect(try StoreContent(of: desk[name]) == StoreContent(of: desk["copy-of-\(name)"]))
            let queue = try TestStore.open(desk[name])
            let found = try await queue.writeWithoutTransaction { database in
                (
                    try String.fetchOne(database, sql: "PRAGMA journal_mode"),
                    try Int.fetchOne(database, sql: "PRAGMA page_size"),
                    try String.fetchAll(database, sql: "PRAGMA integrity_check")
                )
            }
            try queue.close()
            #expect(found.0 == (mode == "WAL" ? "wal" : "delete") && found.1 == pageSize && found.2 == ["ok"])
            #expect(try Folder.names(in: desk.path).filter { $0.hasPrefix(name) } == [name])
        }
    }

    @Test func `a connection that is open sees the new schema and rows, and can write`() async throws {
        try desk.makeStore(rows: 3)
        try TestStore.make(
            at: desk["other.sqlite"],
            sql:
                "CREATE TABLE recipe(id INTEGER PRIMARY KEY, title, stars INT); INSERT INTO recipe VALUES (7, 'Pie', 5)"
        )
        let queue = try TestStore.open(desk["Recipes.sqlite"])
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") } == 3)
        try await desk.run("restore", "other.sqlite", "--over", "Recipes.sqlite", "--any-identity").expectSuccess()
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT stars FROM recipe WHERE id = 7") } == 5)
        try await queue.write { try $0.execute(sql: "INSERT INTO recipe VALUES (8, 'Tea', 4)") }
        #expect(try await queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
        try queue.close()
    }

    @Test(arguments: [[], ["--no-safety-copy"]])
    func `external files stay for a reader of the old state, and the next restore removes them`(
        options: [String]
    ) async throws {
        let (store, copy, files) = try await keepAndChange()
        let old = try CoreDataSample.files(beside: store).keys.filter { files[$0] == nil }
        #expect(old.count == 1)
        let reader = try TestStore.open(store)
        try await reader.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN")
            _ = try Int.fetchOne(database, sql: "SELECT count(*) FROM ZPHOTO")
        }
        let arguments = ["restore", copy, "--over", "Photos.sqlite"] + options
        let outcome = try await desk.run(arguments + ["--busy-timeout", "0.2", "--json"]).expectSuccess()
        let remaining = try #require(try outcome.objects()[0]["remainingFiles"] as? [[String: String]])
        #expect(remaining.map { $0["reason"] } == ["read"])
        #expect(remaining.map { $0["path"] } == old.map { desk[".Photos_SUPPORT"].pushing(FilePath($0)).string })
        #expect(outcome.stderr.contains("stays: somebody still reads the store as it was; the next restore removes it"))
        #expect(try CoreDataSample.files(beside: store).count == files.count + 1)
        // The reader still has the old state.
        try await reader.writeWithoutTransaction { database in
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM ZPHOTO") == 1)
            try database.execute(sql: "COMMIT")
        }
        try reader.close()
        try await desk.run(arguments).expectSuccess()
        #expect(try CoreDataSample.files(beside: store) == files)
        #expect(try !Folder.names(in: desk.path).contains(".Photos.sqlite.restoring"))
    }

    @Test(arguments: [[], ["--no-safety-copy"]])
    func `a restore that cannot commit puts back the external files that it has replaced`(
        options: [String]
    ) async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let photo = try sample.addPhoto(key: 7, content: Data("old".utf8))
        // Fewer pages than are written ahead of the commit, and more than the process may write.
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1700)"
        try TestStore.make(
            at: sample.path, sql: "\(rows) INSERT INTO ZRECIPE(ZNAME, ZNOTE) SELECT 'Soup', zeroblob(3000) FROM n")
        let copy = try #require(try await desk.run("copy", "Photos.sqlite", "--keep-in", "kept").lines.first)
        try TestStore.make(at: sample.path, sql: "DELETE FROM ZRECIPE; VACUUM")
        let file = URL(fileURLWithPath: sample.file("_EXTERNAL_DATA", photo).string)
        try Data("new".utf8).write(to: file)
        let content = try StoreContent(of: sample.path)
        let restore = "\"$SHIP\" restore '\(copy)' --over Photos.sqlite \(options.joined(separator: " "))"
        let outcome = try await desk.shell("ulimit -f 4096; exec \(restore)")
        #expect(outcome.status == .exited(73), "\(outcome.stderr)")
        #expect(try Data(contentsOf: file) == Data("new".utf8))
        #expect(try StoreContent(of: sample.path) == content)
        let safety = (try? Folder.names(in: desk[".Photos-safety"])) ?? []
        #expect(!safety.contains { $0.hasPrefix("Photos-") })
        // Nothing keeps the next one from its work.
        try await desk.shell("exec \(restore)").expectSuccess()
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test func `a store of no bytes takes texts in any encoding`() async throws {
        try SampleStore.utf16LittleEndian.make(at: desk["wide.sqlite"])
        _ = try OpenFile.creating(desk["empty.sqlite"])
        try await desk.run("restore", "wide.sqlite", "--over", "empty.sqlite").expectSuccess()
        #expect(try StoreContent(of: desk["empty.sqlite"]) == StoreContent(of: desk["wide.sqlite"]))
    }

    @Test func `a copy with pages of another size loses no table, however it is declared`() async throws {
        try TestStore.make(
            at: desk["copy.sqlite"],
            sql: """
                PRAGMA page_size = 1024; CREATE TABLE t(a); CREATE TABLE u(a UNIQUE); CREATE INDEX i ON u(a);
                INSERT INTO u VALUES (1), (2); PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'create' || substr(sql, 7) WHERE name IN ('u', 'i')
                """)
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "PRAGMA page_size = 4096; CREATE TABLE t(a)")
        try await desk.run("restore", "copy.sqlite", "--over", "Recipes.sqlite", "--any-identity").expectSuccess()
        let queue = try TestStore.open(desk["Recipes.sqlite"])
        let (rows, names, size) = try await queue.read { database in
            (
                try Int.fetchOne(database, sql: "SELECT sum(a) FROM u INDEXED BY i WHERE a > 0"),
                try String.fetchAll(database, sql: "SELECT name FROM sqlite_schema ORDER BY name"),
                try Int.fetchOne(database, sql: "PRAGMA page_size")
            )
        }
        try queue.close()
        #expect(rows == 3)
        #expect(names == ["i", "sqlite_autoindex_u_1", "t", "u"])
        #expect(size == 4096)
    }

    @Test func `a copy of another store is refused unless one insists`() async throws {
        try CoreDataSample(at: desk["Photos.sqlite"]).addEverything()
        try desk.makeStore()
        let before = try FolderListing(of: desk.path)
        let outcome = try await desk.run("restore", "Recipes.sqlite", "--over", "Photos.sqlite")
        outcome.expectFailure(
            65,
            "the copy is one of another store than \(desk["Photos.sqlite"]): no identity, not \(CoreDataSample.identity)",
            hint: "say --any-identity if that is what you want")
        #expect(try FolderListing(of: desk.path) == before)
        try await desk.run("restore", "Recipes.sqlite", "--over", "Photos.sqlite", "--any-identity").expectSuccess()
        #expect(try StoreContent(of: desk["Photos.sqlite"]) == StoreContent(of: desk["Recipes.sqlite"]))
    }

    @Test func `of stores without an identity the schema has to be the same`() async throws {
        try desk.makeStore()
        try TestStore.make(at: desk["other.sqlite"], sql: "CREATE TABLE album(id INTEGER PRIMARY KEY, title)")
        let before = try FolderListing(of: desk.path)
        let outcome = try await desk.run("restore", "other.sqlite", "--over", "Recipes.sqlite")
        outcome.expectFailure(
            65,
            "the copy may be one of another store than \(desk["Recipes.sqlite"]): neither has an identity, "
                + "and their tables differ", hint: "say --any-identity if that is what you want")
        #expect(try FolderListing(of: desk.path) == before)
        try PlatformCalls.makeFolder(desk["Group"])
        try desk.makeStore("Group/other.sqlite", rows: 7)
        let moved = try await desk.run("move", "other.sqlite", "--to", "Group", "--replace", "--remove-old")
        #expect(moved.status == .exited(65), "\(moved.stderr)")
        #expect(try StoreContent(of: desk["Group/other.sqlite"]).tables["recipe"]?.count == 7)
        // What this program keeps in a store makes it no other one, nor does what SQLite keeps in it.
        try desk.makeStore("same.sqlite", rows: 9)
        try await desk.run("metadata", "Recipes.sqlite", "--set", "kitchen=downstairs").expectSuccess()
        try TestStore.make(at: desk["same.sqlite"], sql: "ANALYZE")
        try await desk.run("restore", "same.sqlite", "--over", "Recipes.sqlite").expectSuccess()
        #expect(try StoreContent(of: desk["Recipes.sqlite"]).tables["recipe"]?.count == 9)
        // A store without tables is nobody's.
        try TestStore.make(at: desk["new.sqlite"], sql: "PRAGMA user_version = 3")
        try await desk.run("restore", "same.sqlite", "--over", "new.sqlite").expectSuccess()
    }

    @Test func `a damaged copy changes nothing`() async throws {
        let (_, copy, _) = try await keepAndChange()
        let before = try FolderListing(of: desk.path)
        let kept = desk["\(copy)/Photos.sqlite"]
        for damage in ["store", "external file", "manifest"] {
            let victim =
                switch damage {
                case "store": kept
                case "manifest": desk["\(copy)/manifest.json"]
                default:
                    desk["\(copy)/.Photos_SUPPORT"].pushing(
                        FilePath(try CoreDataSample.files(beside: kept).keys.sorted()[0]))
                }
            let bytes = try #require(FileManager.default.contents(atPath: victim.string))
            try PlatformCalls.changeMode(of: victim, to: .ownerReadWrite)
            var damaged = bytes
            damaged[damaged.count / 2] ^= 1
            let handle = try FileHandle(forUpdating: URL(fileURLWithPath: victim.string))
            try handle.write(contentsOf: damaged)
            let outcome = try await desk.run("restore", copy, "--over", "Photos.sqlite")
            #expect(outcome.status == .exited(65), "\(damage): \(outcome.stderr)")
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()
        }
        let after = try FolderListing(of: desk.path)
        #expect(after.names == before.names)
        #expect(after.entries.map(\.sha256) == before.entries.map(\.sha256))
    }

    @Test func `what cannot be restored is said, and nothing changes`() async throws {
        try desk.makeStore()
        try SampleStore.utf16LittleEndian.make(at: desk["wide.sqlite"])
        let before = try FolderListing(of: desk.path)
        try await desk.run("restore", "nothing", "--over", "Recipes.sqlite").expectFailure(
            66, "there is no copy at nothing", hint: "name a kept copy's folder, a generation's, or a store")
        try await desk.run("restore", "wide.sqlite", "--over", "no/folder.sqlite").expectFailure(
            66, "there is no store at no/folder.sqlite", hint: "check the path")
        try await desk.run("restore", "Recipes.sqlite", "--over", "Recipes.sqlite").expectFailure(
            64, "Recipes.sqlite is named twice", hint: "name two different places")
        try await desk.run("restore", "wide.sqlite", "--over", "Recipes.sqlite", "--any-identity").expectFailure(
            65, "the copy's texts are in UTF-16le, those of \(desk["Recipes.sqlite"]) in UTF-8",
            hint: "connections that are open cannot follow that: close them, and put the copy in the store's place")
        #expect(try FolderListing(of: desk.path) == before)
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: ["WAL", "DELETE"])
    func `a store that somebody keeps locked is busy, and stays as it is`(mode: String) async throws {
        try desk.makeStore("copy.sqlite", rows: 5)
        let store = try desk.makeStore(rows: 2)
        let queue = try TestStore.open(store)
        try await queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = \(mode); BEGIN IMMEDIATE")
        }
        let outcome = try await desk.run("restore", "copy.sqlite", "--over", "Recipes.sqlite", "--busy-timeout", "0.2")
        outcome.expectFailure(
            75, "\(store) is locked by another program, and stayed so for 0.2 seconds",
            hint: "try again later, or wait longer with --busy-timeout")
        try await queue.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") } == 2)
        try queue.close()
        #expect(try Folder.names(in: desk.path) == ["Recipes.sqlite", "copy.sqlite"])
    }

    /// Core Data's folder stays, and none that the restore has made in it.
    @Test func `a restore that is refused leaves no empty folder of external files`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let large = try sample.addPhoto(key: 8, content: Data("large".utf8), tag: 3)
        let copy = try #require(try await desk.run("copy", "Photos.sqlite", "--keep-in", "kept").lines.first)
        try Folder.removeTree(at: sample.file("_FBF", large).removingLastComponent())
        try TestStore.make(at: sample.path, sql: "DELETE FROM ZPHOTO")
        try sample.addPhoto(key: 9, content: Data("small".utf8))
        let queue = try TestStore.open(sample.path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let restore = ["restore", copy, "--over", "Photos.sqlite", "--busy-timeout", "0.2"]
        #expect(try await desk.run(restore).status == .exited(75))
        #expect(try Folder.names(in: sample.supportFolder) == ["_EXTERNAL_DATA"])
        try await queue.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try queue.close()
        try await desk.run(restore).expectSuccess()
        #expect(try Folder.names(in: sample.supportFolder) == ["_EXTERNAL_DATA", "_FBF"])
    }

    @Test func `a copy from before a migration comes back over the path that it remembers`() async throws {
        try desk.makeStore(rows: 3)
        let kept = try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept")
        let copy = try #require(kept.lines.first)
        let before = try StoreContent(of: desk["Recipes.sqlite"])
        let migration = "ALTER TABLE recipe ADD COLUMN stars; CREATE TABLE tag(name)"
        try TestStore.make(at: desk["Recipes.sqlite"], sql: migration)
        try await desk.run("restore", copy, "--over", "Recipes.sqlite").expectSuccess()
        #expect(try StoreContent(of: desk["Recipes.sqlite"]) == before)
        // At any other path it is another store's.
        try TestStore.make(at: desk["Other.sqlite"], sql: "CREATE TABLE tag(name)")
        let other = try await desk.run("restore", copy, "--over", "Other.sqlite")
        #expect(other.status == .exited(65) && other.stderr.contains("say --any-identity if that is what you want"))
    }
}
