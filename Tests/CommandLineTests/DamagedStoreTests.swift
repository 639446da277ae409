import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A backup is for stores that are damaged or gone: `restore` puts the copy in their place, and nothing of what was there is
/// lost.
@Suite struct DamagedStoreTests {
    private let desk: Desk
    private let store: FilePath

    init() throws {
        desk = try Desk()
        store = desk["Photos.sqlite"]
    }

    /// Makes a Core Data store with external files, and keeps a copy of it.
    private func keepCopy() async throws -> (copy: String, content: StoreContent, files: [String: Data]) {
        let sample = try CoreDataSample(at: store)
        try sample.addEverything()
        let kept = try await desk.run("copy", "Photos.sqlite", "--keep-in", "kept").expectSuccess()
        let content = try StoreContent(of: store)
        // A reader that may not write leaves these.
        for ending in ["-wal", "-shm"] { try? PlatformCalls.removeFile(FilePath("\(store)\(ending)")) }
        return (try #require(kept.lines.first), content, try CoreDataSample.files(beside: store))
    }

    private func bytes(_ path: FilePath) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path.string))
    }

    private func write(_ bytes: Data, to path: FilePath) throws {
        try bytes.write(to: URL(fileURLWithPath: path.string))
    }

    /// The folder in which the one damaged store is kept.
    private func damagedFolder(of name: String = "Photos.sqlite") throws -> FilePath {
        let names = try Folder.names(in: desk.path).filter { $0.hasPrefix("\(name).damaged-") }
        #expect(names.count == 1, "\(names)")
        return desk[try #require(names.first)]
    }

    enum Damage: String, CaseIterable, Sendable {
        case magic, header, truncatedToHalf, truncatedToLittle, garbage, pageSize
    }

    @Test(arguments: Damage.allCases)
    func `a store that SQLite cannot open is set aside with its files, and the copy put there`(
        damage: Damage
    ) async throws {
        let (copy, content, files) = try await keepCopy()
        var damaged = try bytes(store)
        switch damage {
        case .magic: damaged.replaceSubrange(0..<16, with: Data(repeating: 0x58, count: 16))
        case .header: damaged.replaceSubrange(0..<100, with: Data(repeating: 0, count: 100))
        case .truncatedToHalf: damaged = damaged.prefix(damaged.count / 2)
        case .truncatedToLittle: damaged = damaged.prefix(57)
        case .garbage: damaged = Data("no store at all".utf8)
        case .pageSize: damaged.replaceSubrange(16..<18, with: [3, 3])
        }
        let log = Data("not a log".utf8)
        try write(damaged, to: store)
        try write(log, to: FilePath("\(store)-wal"))
        let outcome = try await desk.run("restore", copy, "--over", "Photos.sqlite", "--json")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        let folder = try damagedFolder()
        #expect(try outcome.objects()[0]["damagedStore"] as? String == folder.string)
        #expect(outcome.stderr.contains("the store as it was is kept in \(folder)"))
        // The store, its files, what is kept, and the damaged one.
        #expect(try Folder.names(in: desk.path).count == 4)
        #expect(try bytes(folder.appending("Photos.sqlite")) == damaged)
        #expect(try bytes(folder.appending("Photos.sqlite-wal")) == log)
        #expect(try CoreDataSample.files(beside: folder.appending("Photos.sqlite")) == files)
        #expect(try StoreContent(of: store) == content)
        #expect(try CoreDataSample.files(beside: store) == files)
        #expect(try desk.leftovers == [])
        // It can be written to, and restored as any other.
        try await desk.run("restore", copy, "--over", "Photos.sqlite").expectSuccess()
        #expect(try bytes(folder.appending("Photos.sqlite")) == damaged)
    }

    @Test func `a store that is gone comes back, and what was beside it stays`() async throws {
        let (copy, content, files) = try await keepCopy()
        try PlatformCalls.removeFile(store)
        let log = Data("a log of the store that is gone".utf8)
        try write(log, to: FilePath("\(store)-wal"))
        let support = desk[".Photos_SUPPORT"]
        let names = files.keys.sorted()
        try PlatformCalls.removeFile(support.pushing(FilePath(names[0])))
        try write(Data("changed".utf8), to: support.pushing(FilePath(names[1])))
        let outcome = try await desk.run("restore", copy, "--over", "Photos.sqlite").expectSuccess()
        #expect(outcome.stderr.contains("there was no store"))
        #expect(try StoreContent(of: store) == content)
        #expect(try CoreDataSample.files(beside: store) == files)
        let folder = try damagedFolder()
        #expect(try bytes(folder.appending("Photos.sqlite-wal")) == log)
        #expect(
            try bytes(folder.appending(".Photos_SUPPORT").pushing(FilePath(names[1]))) == Data("changed".utf8))
    }

    @Test func `a store of which nothing is left at all comes back`() async throws {
        let (copy, content, files) = try await keepCopy()
        try PlatformCalls.removeFile(store)
        try Folder.removeTree(at: desk[".Photos_SUPPORT"])
        try await desk.run("restore", copy, "--over", "Photos.sqlite").expectSuccess()
        #expect(try Folder.names(in: desk.path) == [".Photos_SUPPORT", "Photos.sqlite", "kept"])
        #expect(try StoreContent(of: store) == content)
        #expect(try CoreDataSample.files(beside: store) == files)
        // The copy is another file, and stays as it is.
        try TestStore.make(at: store, sql: "DELETE FROM ZPHOTO")
        try await desk.run("verify", copy).expectSuccess()
        try await desk.run("restore", copy, "--over", "nowhere/Photos.sqlite").expectFailure(
            66, "there is no store at nowhere/Photos.sqlite", hint: "check the path")
    }

    @Test func `a store of no bytes gets the copy as any other, and whoever has it open sees it`() async throws {
        let (copy, content, _) = try await keepCopy()
        try write(Data(), to: store)
        let queue = try TestStore.open(store)
        try await desk.run("restore", copy, "--over", "Photos.sqlite").expectSuccess()
        let rows = try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZRECIPE") }
        #expect(rows == content.tables["ZRECIPE"]?.count)
        try queue.close()
        #expect(try StoreContent(of: store) == content)
        // But to SQLite the log of such a store is nothing: then it is set aside.
        try write(Data(), to: store)
        try write(Data("a log".utf8), to: FilePath("\(store)-wal"))
        let outcome = try await desk.run("restore", copy, "--over", "Photos.sqlite")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(try bytes(try damagedFolder().appending("Photos.sqlite-wal")) == Data("a log".utf8))
        #expect(try StoreContent(of: store) == content)
    }

    /// SQLite opens it, and finds out only while it reads.
    @Test(arguments: ["WAL", "DELETE"])
    func `a store with a damaged page in its middle gets the copy in one transaction, and its bytes are kept`(
        mode: String
    ) async throws {
        try desk.makeStore(rows: 20_000)
        let kept = try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept")
        let copy = try #require(kept.lines.first)
        let path = desk["Recipes.sqlite"]
        let content = try StoreContent(of: path)
        try TestStore.make(at: path, sql: "PRAGMA journal_mode = \(mode)")
        var damaged = try bytes(path)
        for page in 20..<30 {
            damaged.replaceSubrange(page * 4096..<page * 4096 + 200, with: Data(repeating: 0xee, count: 200))
        }
        try write(damaged, to: path)
        let app = try TestStore.open(path)
        let outcome = try await desk.run("restore", copy, "--over", "Recipes.sqlite")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(try bytes(try damagedFolder(of: "Recipes.sqlite").appending("Recipes.sqlite")) == damaged)
        #expect(try await app.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") } == 20_000)
        try app.close()
        #expect(try StoreContent(of: path) == content)
        #expect(try desk.leftovers == [])
    }

    @Test func `whoever has the damaged file open keeps it`() async throws {
        try desk.makeStore(rows: 2000)
        let kept = try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept")
        let copy = try #require(kept.lines.first)
        let path = desk["Recipes.sqlite"]
        let reader = try TestStore.open(path)
        try await reader.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA cache_size = 5; BEGIN")
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM recipe") == 2000)
        }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path.string))
        try handle.write(contentsOf: Data(repeating: 0, count: 100))
        try handle.close()
        let outcome = try await desk.run("restore", copy, "--over", "Recipes.sqlite")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        try await reader.writeWithoutTransaction { database in
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM recipe WHERE title LIKE 'Soup%'") == 2000)
            try database.execute(sql: "COMMIT")
        }
        // What it does when it goes does not reach the new store.
        try reader.close()
        let queue = try TestStore.open(path)
        #expect(try await queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM recipe") } == 2000)
        try queue.close()
    }

    @Test func `what is busy, may not be read, or never was a store is not damaged`() async throws {
        let (copy, _, _) = try await keepCopy()
        let letter = Data("Dear all".utf8)
        try write(letter, to: desk["letter"])
        try await desk.run("restore", copy, "--over", "letter").expectFailure(
            65, "\(desk["letter"]) is not a SQLite database, and nothing says that it was one",
            hint: "check the path; with --any-identity it is set aside, and the copy put there")
        try PlatformCalls.makeFolder(desk["folder"])
        #expect(try await desk.run("restore", copy, "--over", "folder").status == .exited(65))
        #expect(try bytes(desk["letter"]) == letter)
        // Somebody writes to it, as far as the locks tell, whatever SQLite makes of its bytes.
        try write(Data(repeating: 1, count: 4096), to: store)
        let locker = try ChildProgram(
            "/usr/bin/env",
            [
                "python3", "-c",
                "import fcntl, os, struct, sys\nf = os.open(sys.argv[1], os.O_RDWR)\n"
                    + "fcntl.lockf(f, fcntl.LOCK_EX, 1, 0x40000001)\nprint('locked', flush=True)\nsys.stdin.read()",
                store.string,
            ], input: .pipe)
        _ = try await locker.waitForLine(containing: "locked", on: .output)
        let outcome = try await desk.run("restore", copy, "--over", "Photos.sqlite", "--busy-timeout", "0.3")
        #expect(outcome.status == .exited(75), "\(outcome.stderr)")
        #expect(try bytes(store) == Data(repeating: 1, count: 4096))
        locker.closeInput()
        _ = try await locker.wait()
        #expect(try Folder.names(in: desk.path).filter { $0.contains(".damaged-") } == [])
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: [57, 100, 4096])
    func `destroy says what a broken file is, and removes it when one insists`(size: Int) async throws {
        _ = try await keepCopy()
        var broken = try bytes(store).prefix(size)
        if size > 57 { broken.replaceSubrange(0..<16, with: Data(repeating: 0, count: 16)) }
        try write(broken, to: store)
        try write(Data("a log".utf8), to: FilePath("\(store)-wal"))
        let before = try FolderListing(of: desk.path)
        try await desk.run("destroy", "Photos.sqlite").expectFailure(
            65,
            size == 57
                ? "\(store) is truncated: it has 57 bytes and should have 100"
                : "\(store) is not a SQLite database, or it is encrypted",
            hint: "check the path; --force removes it all the same, with its -wal, -shm and -journal")
        #expect(try FolderListing(of: desk.path) == before)
        let outcome = try await desk.run("destroy", "Photos.sqlite", "--force")
        #expect(outcome.status == .exited(0))
        #expect(outcome.complaints.count == 1 && outcome.stderr.contains(" and 1 more stay: "))
        // Nobody knows whose the external files are.
        #expect(try Folder.names(in: desk.path) == [".Photos_SUPPORT", "kept"])
        #expect(try desk.leftovers == [])
    }
}
