import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Stores that cannot be shipped: each is its own error.
@Suite struct BadStoreTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func send(_ store: String, _ options: String...) async throws -> ChildProgram.Outcome {
        try await desk.run(["send", store, "--to", "./out.shipment"] + options)
    }

    /// Neither a shipment nor anything else.
    private func expectNothingMade() throws {
        #expect(try desk.leftovers == [])
        #expect((try? PlatformCalls.status(of: desk["out.shipment"])) == nil)
    }

    @Test func `there is no such file`() async throws {
        try await send("nothing.sqlite").expectFailure(
            66, "there is no store at nothing.sqlite", hint: "check the path")
        try expectNothingMade()
    }

    @Test func `it is a folder`() async throws {
        try await send(".").expectFailure(
            65, ". is a folder, not a store", hint: "name the SQLite file inside it")
        try expectNothingMade()
        for command in [["destroy"], ["destroy", "--force"], ["move", "--to", "o"]] {
            try await desk.run(command + ["."]).expectFailure(
                65, ". is a folder, not a store", hint: "name the SQLite file inside it")
        }
    }

    @Test(arguments: [1, 1000])
    func `it is not a database`(length: Int) async throws {
        let content = String(repeating: "encrypted, it seems; ", count: length)
        try content.write(toFile: desk["notes.sqlite"].string, atomically: true, encoding: .utf8)
        try await send("notes.sqlite").expectFailure(
            65, "\(desk["notes.sqlite"]) is not a SQLite database, or it is encrypted",
            hint: "check the path; an encrypted store must be exported in plain by its app")
        try expectNothingMade()
    }

    @Test func `it is truncated`() async throws {
        try TestStore.make(at: desk["cut.sqlite"], sql: "CREATE TABLE t(a); CREATE TABLE u(a)")
        try FileHandle(forWritingTo: URL(fileURLWithPath: desk["cut.sqlite"].string)).truncate(atOffset: 5000)
        try await send("cut.sqlite").expectFailure(
            65, "\(desk["cut.sqlite"]) is truncated: it has 5000 bytes and should have 12288",
            hint: "restore it from a copy, or let `sqlite3 STORE .recover` save what is left")
        try expectNothingMade()
    }

    @Test func `it is corrupt`() async throws {
        try desk.makeLargeStore("bad.sqlite", megabytes: 1)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: desk["bad.sqlite"].string))
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        let outcome = try await send("bad.sqlite")
        #expect(outcome.status == .exited(65))
        #expect(outcome.complaints.first?.hasPrefix("ship-store: error: \(desk["bad.sqlite"]) is corrupt: ") == true)
        #expect(outcome.complaints.count == 2 && outcome.stdout == "")
        try expectNothingMade()
    }

    /// Root may read everything, so it gives up that right; others may not read it anyway.
    @Test func `it may not be read`() async throws {
        try desk.makeStore()
        try PlatformCalls.changeMode(of: desk["Recipes.sqlite"], to: [])
        let plain = "$SHIP send Recipes.sqlite --to ./out.shipment"
        let line =
            geteuid() == 0 ? "setpriv --bounding-set=-dac_override,-dac_read_search " + plain : plain
        try await desk.shell(line).expectFailure(
            77, "no permission to read \(desk["Recipes.sqlite"])", hint: "run as a user who may read it")
        try expectNothingMade()
    }

    @Test func `it is locked`() async throws {
        try await desk.withLockedStore {
            let outcome = try await send("Locked.sqlite", "--busy-timeout", "0.3")
            outcome.expectFailure(
                75, "\(desk["Locked.sqlite"]) is locked by another program, and stayed so for 0.3 seconds",
                hint: "try again later, or wait longer with --busy-timeout")
        }
        try expectNothingMade()
        try await send("Locked.sqlite").expectSuccess()
    }

    @Test func `it needs a collation that only its app has`() async throws {
        let queue = try TestStore.open(desk["people.sqlite"])
        try await queue.write { database in
            database.add(collation: DatabaseCollation("by_contact") { $0.compare($1) })
            try database.execute(sql: "CREATE TABLE t(a COLLATE by_contact); CREATE INDEX i ON t(a)")
            try database.execute(sql: "INSERT INTO t VALUES ('b'), ('a')")
        }
        try queue.close()
        try await send("people.sqlite").expectFailure(
            65, "the store needs the collation by_contact, which only its app defines",
            hint: "let the app itself take the copy, with its collations registered")
        try expectNothingMade()
    }

    @Test func `an external file is missing`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let uuid = try sample.addPhoto(key: 7, content: nil)
        let name = "_EXTERNAL_DATA/\(uuid)"
        try await send("Photos.sqlite").expectFailure(
            65, "the external file \(name) is missing: table ZPHOTO, column ZDATA, row 7 refers to it",
            hint: "put it back, or go on without it with --allow-missing-external")
        try expectNothingMade()
        let without = try await send("Photos.sqlite", "--allow-missing-external")
        #expect(without.status == .exited(0))
        #expect(without.complaints == ["ship-store: warning: shipping without \(name), which is not there"])
        let inspected = try await desk.run("inspect", "out.shipment")
        #expect(inspected.stdout.contains("without 1 missing external file\n"))
    }

    /// A file system of half a megabyte; nothing is tested where this process may not mount any.
    @Test func `there is no room for the copy`() async throws {
        try desk.makeLargeStore(megabytes: 1)
        let outcome = try await desk.shell(
            """
            unshare -m true 2> /dev/null || exit 99
            mkdir small
            exec unshare -m sh -c 'mount -t tmpfs -o size=500k tmpfs small && exec "$SHIP" send Large.sqlite --to ./a \
              --temporary-folder small'
            """)
        guard outcome.status != .exited(99) else { return }
        #expect(outcome.status == .exited(73))
        #expect(outcome.complaints.first?.hasPrefix("ship-store: error: the copy needs ") == true)
        #expect(
            outcome.complaints.last
                == "ship-store: hint: free some space on that disk, or keep less free (--keep-free); "
                + "--temporary-folder moves temporary copies to another disk"
        )
        try expectNothingMade()
    }

    /// SQLite would wait for its other end.
    @Test(arguments: [["destroy"], ["destroy", "--force"]])
    func `a pipe is in the place of its journal`(command: [String]) async throws {
        try desk.makeStore()
        try await desk.shell("mkfifo Recipes.sqlite-journal").expectSuccess()
        let before = try FolderListing(of: desk.path)
        let outcome = try await desk.run(command + ["Recipes.sqlite"], timeout: .seconds(30))
        #expect(outcome.status != .exited(0))
        #expect(outcome.complaints.last?.contains("move it away") == true)
        #expect(try FolderListing(of: desk.path) == before)
    }

    /// Whoever opens a named pipe waits for another program.
    @Test func `nobody waits for a pipe on the way to a store, or in its place`() async throws {
        try await desk.shell("mkfifo f").expectSuccess()
        for command in [
            ["destroy", "f/R.sqlite"], ["move", "f/R.sqlite", "--to", "o"], ["copy", "f/R.sqlite", "--to", "o"],
        ] {
            let outcome = try await desk.run(command, timeout: .seconds(30))
            #expect([.exited(66), .exited(73)].contains(outcome.status), "\(command) \(outcome.stderr)")
        }
        try desk.makeStore()
        let hung = try await desk.shell(
            """
            set +e; touch go
            while [ -e go ]; do mv Recipes.sqlite aside; mkfifo Recipes.sqlite; sleep .002; rm Recipes.sqlite; mv aside Recipes.sqlite
                sleep .002; done &
            for i in 1 2 3 4 5 6 7 8; do for c in verify inspect metadata; do
                timeout -s KILL 10 "$SHIP" $c Recipes.sqlite --busy-timeout 1 >&2; [ $? = 137 ] && echo "$c hung"
            done; done
            rm go; wait
            """)
        #expect(hung.stdout == "")
    }

    /// SQLite follows none there, and says of one that another program has the store open.
    @Test(arguments: ["-journal", "-wal"], ["nowhere", "/etc/passwd"])
    func `a symbolic link is in the place of a sidecar`(ending: String, target: String) async throws {
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "CREATE TABLE t(a)")
        try await desk.run("copy", "Recipes.sqlite", "--as", "Copy.sqlite").expectSuccess()
        try await desk.shell("ln -s \(target) Recipes.sqlite\(ending)").expectSuccess()
        let before = try FolderListing(of: desk.path)
        for command in [
            ["destroy", "Recipes.sqlite"], ["move", "Recipes.sqlite", "--to", "o", "--remove-old"],
            ["restore", "Copy.sqlite", "--over", "Recipes.sqlite"], ["metadata", "Recipes.sqlite", "--set", "a=b"],
        ] {
            let outcome = try await desk.run(command)
            #expect(outcome.complaints.last?.contains("move it away") == true, "\(command) \(outcome.stderr)")
        }
        try await desk.run("copy", "Recipes.sqlite", "--to", "o").expectFailure(
            65, "\(desk["Recipes.sqlite"])\(ending) is not a regular file",
            hint: "move it away: SQLite keeps a journal or a log there")
        #expect(try FolderListing(of: desk.path) == before)
    }

    @Test func `every command that reads a store says the same`() async throws {
        try await desk.run("copy", "nothing.sqlite", "--to", "copies").expectFailure(
            66, "there is no store at nothing.sqlite", hint: "check the path")
        _ = try await desk.shell("mkfifo pipe")
        for command in ["verify", "inspect"] {
            try await desk.run(command, "pipe").expectFailure(
                65, "pipe is not a regular file", hint: "name a SQLite file")
            try await desk.run(command, "nothing.sqlite").expectFailure(
                66, "there is no store at nothing.sqlite", hint: "check the path")
            try await desk.run(command, ".").expectFailure(
                65, ". is a folder, not a store", hint: "name the SQLite file inside it")
        }
        #expect(try desk.leftovers == [])
    }
}
