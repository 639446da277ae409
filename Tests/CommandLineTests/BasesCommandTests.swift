import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What a sender remembers of what was acknowledged, and `bases`, which lists and removes it.
@Suite struct BasesCommandTests {
    private let desk: Desk
    private let receiver = "exec:$SHIP receive --into inbox --from - -q"

    init() throws { desk = try Desk() }

    private func send(_ stores: String..., options: String...) async throws {
        try await desk.run(["send"] + stores + ["--to", receiver, "-q"] + options).expectSuccess()
    }

    private func bases(_ options: String...) async throws -> [[String: Any]] {
        let outcome = try await desk.run(["bases", "--json"] + options).expectSuccess()
        return try outcome.objects()
    }

    /// Files of copies and of their manifests.
    private var objects: [String] { (try? Folder.names(in: desk.memory.appending("objects"))) ?? [] }

    @Test func `what a receiver has acknowledged is remembered as it was installed`() async throws {
        try desk.makeStore()
        try await send("Recipes.sqlite")
        let listed = try await bases()
        let line = try #require(listed.first)
        #expect(listed.count == 1)
        #expect(line["name"] as? String == "Recipes" && line["receiver"] as? String == receiver)
        #expect(line["store"] as? String == desk["Recipes.sqlite"].string)
        let installed = try await desk.run("list", "--into", "inbox", "--json").objects().first
        #expect(line["sha256"] as? String == installed?["sha256"] as? String)
        let path = FilePath(try #require(line["path"] as? String))
        let sum = try await desk.shell("sha256sum < \(path)")
        #expect(sum.stdout.prefix(64) == line["sha256"] as? String ?? "")
        #expect(try StoreContent(of: path) == StoreContent(of: desk["Recipes.sqlite"]))
        #expect(try PlatformCalls.status(of: desk.memory).permissions == .ownerReadWriteExecute)

        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Bread')")
        try await send("Recipes.sqlite")
        let next = try await bases()
        #expect(next.count == 1 && next.first?["sha256"] as? String != line["sha256"] as? String)
        #expect(objects.count == 2)
        // What is there already has been acknowledged as well.
        try await send("Recipes.sqlite")
        #expect(objects.count == 2)
        let words = try await desk.run("bases").expectSuccess()
        #expect(words.stdout.hasPrefix("Recipes  \(desk["Recipes.sqlite"])  \(receiver)  "))
        #expect(try desk.leftovers == [])
    }

    @Test func `what is remembered makes the next shipment small, unless it is not to be used`() async throws {
        try desk.makeStore(rows: 2000)
        // What cannot be made small by itself.
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = hex(randomblob(20))")
        func wire(_ options: String...) async throws -> Int {
            let outcome = try await desk.run(["send", "Recipes.sqlite", "--to", receiver, "--json", "-q"] + options)
            outcome.expectSuccess()
            return try #require(try outcome.objects().last?["wire"] as? Int)
        }
        let whole = try await wire()
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = 'Bread' WHERE id = 7")
        let next = try await wire()
        #expect(next < whole / 3, "\(next) of \(whole)")
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = 'Rice' WHERE id = 8")
        // Over a copy that this side does not have, both compare what they hold first; with `--plain` neither is used.
        let compared = try await wire("--no-remember")
        #expect(compared > next && compared < whole / 3, "\(compared) of \(whole)")
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = 'Soup' WHERE id = 9")
        #expect(try await wire("--plain") > whole / 2)
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `the copy is made where it is remembered, and is not written twice`() async throws {
        try desk.makeStore()
        // Nothing can be made in the other place.
        try PlatformCalls.changeMode(of: desk.temporary, to: .ownerRead)
        let isRoot = PlatformCalls.canWrite(desk.temporary)
        try Folder.removeTree(at: desk.temporary)
        try await send("Recipes.sqlite")
        #expect(objects.count == 2, "\(isRoot)")
        // Where one is named, it is made there, and gets a second name.
        try PlatformCalls.makeFolder(desk.temporary)
        let other = try desk.makeStore("Tea.sqlite")
        try await send("Tea.sqlite", options: "--temporary-folder", desk.temporary.string)
        #expect(try await bases().map { $0["name"] as? String } == ["Tea", "Recipes"])
        #expect(try await bases("--name", "Tea").first?["store"] as? String == other.string)
        #expect(try desk.leftovers == [])
    }

    @Test func `what nobody acknowledges is not remembered`() async throws {
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "./a.shipment", "-q").expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--to", receiver, "--dry-run", "-q").expectSuccess()
        try await desk.shell("$SHIP send Recipes.sqlite --to - -q | $SHIP receive --into inbox --from - -q")
            .expectSuccess()
        let refused = try await desk.run(
            "send", "Recipes.sqlite", "--to", "exec:$SHIP receive --into other --from - --user-version 7", "-q")
        #expect(refused.status == .exited(65))
        try await send("Recipes.sqlite", options: "--no-remember")
        #expect(try await bases().isEmpty)
        #expect(objects == [])
        #expect(try await desk.run("bases").stderr == "nothing is remembered\n")
    }

    @Test func `several stores are remembered, each for itself, and removed by name or all`() async throws {
        for name in ["Recipes", "Tea", "Notes"] { try desk.makeStore("\(name).sqlite", rows: name.count) }
        try await send("Recipes.sqlite", "Tea.sqlite", "Notes.sqlite")
        #expect(try await bases().map { $0["name"] as? String } == ["Notes", "Tea", "Recipes"])
        let dry = try await bases("--remove", "Tea", "--dry-run")
        #expect(dry.map { $0["outcome"] as? String } == ["would-remove"])
        #expect(try await bases().count == 3)
        try await desk.run("bases", "--remove", "Tea", "--remove", "None").expectFailure(
            66, "nothing is remembered of None", hint: "see `ship-store bases`")
        #expect(try await bases().count == 3)
        let removed = try await desk.run("bases", "--remove", "Tea").expectSuccess()
        #expect(removed.stdout.hasPrefix("Tea  ") && removed.stderr == "removed 1 copy\n")
        #expect(try await bases().map { $0["name"] as? String } == ["Notes", "Recipes"])
        #expect(objects.count == 4)
        #expect(try await bases("--remove-all").map { $0["outcome"] as? String } == ["removed", "removed"])
        #expect(desk.remembered == [])
        #expect(try await bases("--remove-all").isEmpty)
    }

    @Test func `options that make no sense together are refused`() async throws {
        for (options, error) in [
            (["--remove", "a", "--remove-all"], "--remove and --remove-all exclude each other"),
            (["--dry-run"], "--dry-run belongs to --remove and --remove-all"),
            (["--remove-all", "--name", "a"], "--name is for listing; --remove takes a name itself"),
        ] {
            let outcome = try await desk.run(["bases"] + options)
            #expect(outcome.status == .exited(64))
            #expect(outcome.complaints.first == "ship-store: error: \(error)")
        }
    }

    @Test func `destroy removes what is remembered of its store, and says so`() async throws {
        for name in ["Recipes", "Tea"] { try desk.makeStore("\(name).sqlite", rows: name.count) }
        try await send("Recipes.sqlite", "Tea.sqlite")
        try await send("Recipes.sqlite", options: "--name", "Again")
        let paths = try await bases().filter { $0["name"] as? String != "Tea" }.compactMap { $0["path"] as? String }
        #expect(Set(paths).count == 1, "two names, one copy")
        let plan = try await desk.run("destroy", "Recipes.sqlite", "--dry-run", "--json").objects().first
        #expect((plan?["wouldGo"] as? [String])?.contains(paths[0]) == true)
        #expect(try await bases().count == 3)
        let outcome = try await desk.run("destroy", "Recipes.sqlite").expectSuccess()
        #expect(outcome.stderr.contains("forgot 2 copies of it that receivers have acknowledged\n"))
        #expect(try await bases().map { $0["name"] as? String } == ["Tea"])
        #expect(objects.count == 2)
        let queue = try TestStore.open(desk["Tea.sqlite"])
        try queue.close()
        // A file that SQLite cannot open any more.
        try Data(repeating: 7, count: 5000).write(to: URL(fileURLWithPath: desk["Tea.sqlite"].string))
        try await desk.run("destroy", "Tea.sqlite", "--force").expectSuccess()
        #expect(desk.remembered == [])
    }

    @Test func `send says once that what is remembered cannot be read, and how to mend that`() async throws {
        try desk.makeStore()
        try await send("Recipes.sqlite")
        try await desk.shell("mkdir other; sqlite3 other/Recipes.sqlite 'CREATE TABLE t(a)'").expectSuccess()
        let index = desk.memory.appending("index.json")
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: index.string))
        #expect(chmod(index.string, 0o600) == 0)
        let words = "shipments take more bytes: the record of what is remembered, \(index), cannot be used"
        let line = "$SHIP send Recipes.sqlite --to 'exec:$SHIP receive --into inbox --from - -q'"
        // Another store takes no place unasked.
        let unknown = "nothing says whether another store was sent as Recipes before: "
        for store in ["Recipes.sqlite", "other/Recipes.sqlite"] {
            let refused = try await desk.run("send", store, "--to", receiver)
            #expect(refused.status == .exited(65) && refused.stderr.contains(unknown), "\(refused.stderr)")
            #expect(refused.stderr.contains("say --replace if it is this store's name; `rm -r \(desk.memory)`: "))
        }
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        let outcome = try await desk.shell("\(line) --replace")
        #expect(outcome.status == .exited(0), "\(outcome.stderr)")
        #expect(outcome.stderr.components(separatedBy: words).count == 2, "\(outcome.stderr)")
        #expect(outcome.stderr.contains("; `rm -r \(desk.memory)`: "), "\(outcome.stderr)")
        // What goes into a file builds on nothing.
        let file = try await desk.run("send", "Recipes.sqlite", "--to", "./a.shipment")
        #expect(file.stderr.contains(unknown) && !file.stderr.contains("take more bytes"), "\(file.stderr)")
        let mended = try await desk.shell("rm -r '\(desk.memory)'; \(line)")
        #expect(mended.status == .exited(0) && !mended.stderr.contains("take more bytes"), "\(mended.stderr)")
    }

    @Test func `send and bases say that nothing can be remembered where a file is in the way`() async throws {
        try desk.makeStore()
        let place = desk.state.appending("ship-store")
        try Data().write(to: URL(fileURLWithPath: place.string))
        let words =
            "shipments take more bytes: cannot make a folder in \(place): Not a directory; a part of the path is a file"
        for line in ["$SHIP send Recipes.sqlite --to 'exec:$SHIP receive --into inbox --from - -q'", "$SHIP bases"] {
            let outcome = try await desk.shell(line)
            #expect(outcome.status == .exited(0), "\(outcome.stderr)")
            #expect(outcome.stderr.components(separatedBy: words).count == 2, "\(outcome.stderr)")
        }
        try await desk.shell("rm '\(place)'").expectSuccess()
        #expect(try await !desk.run("bases").stderr.contains("take more bytes"))
    }

    @Test func `destroy leaves the store where what is remembered cannot be removed`() async throws {
        try desk.makeStore()
        try await send("Recipes.sqlite")
        #expect(chmod(desk.memory.string, 0o755) == 0)
        let outcome = try await desk.run("destroy", "Recipes.sqlite")
        outcome.expectFailure(
            77, "other users may have read or changed what is remembered in \(desk.memory)",
            hint: "`rm -r \(desk.memory)`: the next shipments are whole then, and not compared with what went before "
                + "under their names")
        #expect((try? PlatformCalls.status(of: desk["Recipes.sqlite"])) != nil)
        // A send does without.
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Bread')")
        try await send("Recipes.sqlite", options: "--replace")
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(
            try PlatformCalls.status(of: desk.memory).permissions == [
                .ownerReadWriteExecute, .groupReadExecute, .otherReadExecute,
            ])
        try Folder.removeTree(at: desk.memory)
        try await desk.run("destroy", "Recipes.sqlite", "-q").expectSuccess()
    }

    @Test func `what is remembered follows a store that is moved, and stays with one that is copied`() async throws {
        try desk.makeStore()
        try await send("Recipes.sqlite")
        try await desk.run("move", "Recipes.sqlite", "--to", "Copied", "-q").expectSuccess()
        #expect(try await bases().first?["store"] as? String == desk["Recipes.sqlite"].string)
        try await desk.run("move", "Recipes.sqlite", "--to", "Group", "--remove-old", "-q").expectSuccess()
        let listed = try await bases()
        #expect(listed.map { $0["store"] as? String } == [desk["Group/Recipes.sqlite"].string])
        try await send("Group/Recipes.sqlite")
        #expect(try await bases().count == 1)
    }

    @Test func `several senders at once remember what each has sent`() async throws {
        let names = (0..<5).map { "Store\($0)" }
        for (number, name) in names.enumerated() { try desk.makeStore("\(name).sqlite", rows: number + 1) }
        for _ in 0..<2 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for name in names {
                    group.addTask {
                        let receiver = "exec:$SHIP receive --into '\(name)' --from - -q"
                        try await desk.run("send", "\(name).sqlite", "--to", receiver, "-q").expectSuccess()
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(Set(try await bases().compactMap { $0["name"] as? String }) == Set(names))
        #expect(objects.count == 10 && desk.remembered == ["index.json", "objects"])
    }

    @Test func `a sender that is killed while it works leaves nothing that the next one does not sweep`() async throws {
        try desk.makeStore()
        try await send("Recipes.sqlite")
        try await desk.withLockedStore {
            let program = try desk.start("send", "Locked.sqlite", "--to", receiver, "--busy-timeout", "60", "-q")
            try await desk.waitForRememberedCopy()
            program.signal(SIGKILL)
            #expect(try await program.wait(timeout: .seconds(20)).status == .signalled(SIGKILL))
        }
        #expect(desk.remembered.count == 3)
        // One that takes a copy.
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "CREATE TABLE tea(title)")
        try await send("Recipes.sqlite")
        #expect(desk.remembered == ["index.json", "objects"])
        #expect(objects.count == 2)
    }

    @Test func `what a killed sender has left goes with what is removed, and with the store`() async throws {
        try desk.makeStore()
        for command in [["bases", "--remove-all", "-q"], ["destroy", "Recipes.sqlite", "-q"]] {
            try await desk.withLockedStore {
                let program = try desk.start("send", "Locked.sqlite", "--to", receiver, "--busy-timeout", "60", "-q")
                try await desk.waitForRememberedCopy()
                program.signal(SIGKILL)
                #expect(try await program.wait(timeout: .seconds(20)).status == .signalled(SIGKILL))
            }
            try await desk.run(command).expectSuccess()
            #expect(!desk.remembered.contains { $0.hasPrefix("ship-store-") })
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: desk["Locked.sqlite"].string + suffix)
            }
        }
    }
}

/// A sender whose memory is on a disk with too little room.
@Suite(.enabled("may not mount a tmpfs") { await SmallDisk.isAvailable() })
struct FullMemoryTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func send(_ store: String, remembering disk: FilePath) async throws {
        let line = "$SHIP send \(store) --to 'exec:$SHIP receive --into inbox --from - -q' -q"
        try await desk.shell("XDG_STATE_HOME='\(disk)' \(line)").expectSuccess()
        #expect(try desk.leftovers == [])
        let memory = disk.appending("ship-store/bases")
        #expect(try Folder.names(in: memory).allSatisfy { ["index.json", "objects"].contains($0) })
    }

    @Test func `a store for which there is no room is sent all the same`() async throws {
        try desk.makeLargeStore(megabytes: 2)
        try await SmallDisk.with(size: "1m") { disk in
            try await send("Large.sqlite", remembering: disk)
            #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        }
    }

    @Test func `a copy for which the room runs out is made elsewhere`() async throws {
        try desk.makeStore()
        let queue = try TestStore.open(desk["Recipes.sqlite"])
        // All of it is in the log.
        try await queue.writeWithoutTransaction { db in
            try db.execute(
                sql: """
                    PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                    INSERT INTO recipe(title) SELECT hex(randomblob(500)) FROM n;
                    """)
        }
        #expect(try PlatformCalls.status(of: desk["Recipes.sqlite"]).size < 100_000)
        try await SmallDisk.with(size: "1m") { disk in
            try await send("Recipes.sqlite", remembering: disk)
        }
        try queue.close()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }
}
