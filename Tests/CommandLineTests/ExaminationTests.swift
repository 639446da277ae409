import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `list`, `verify` and `inspect`: what is there, and whether it is whole.
@Suite struct ExaminationTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    private func install(_ store: String, _ options: String...) async throws {
        let bytes = desk.scratchFile("shipment").string
        try await desk.run(["send", store, "--to", bytes] + options).expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", bytes).expectSuccess()
    }

    @Test func `list shows stores and generations, the current one marked`() async throws {
        try desk.makeStore("Tea.sqlite")
        try desk.makeStore()
        try await install("Recipes.sqlite")
        try TestStore.make(at: desk["Recipes.sqlite"], sql: "DELETE FROM recipe WHERE id = 1")
        try await install("Recipes.sqlite", "--meta", "model=7")
        try await install("Tea.sqlite")
        let list = try await desk.run("list", "--into", "inbox").expectSuccess()
        try #require(list.lines.count == 7)
        #expect(list.lines[0].split(separator: " ") == ["name", "number", "copied", "size", "digest"])
        #expect(list.lines[1].hasPrefix("   Recipes       1  20"))
        #expect(list.lines[3].hasPrefix("*  Recipes       2  20"))
        #expect(list.lines[4].hasPrefix("   installed 20") && list.lines[4].hasSuffix(", user_version 0, model=7"))
        #expect(list.lines[5].hasPrefix("*  Tea           1  20"))
        // Columns stand below their headings, and on any terminal.
        let place = try #require(list.lines[0].range(of: "copied")).lowerBound
        for line in [1, 3, 5] { #expect(list.lines[line][place...].hasPrefix("20")) }
        #expect(list.lines.allSatisfy { $0.count <= 80 })
        let objects = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(objects.map { $0["name"] as? String } == ["Recipes", "Recipes", "Tea"])
        #expect(objects.map { $0["isCurrent"] as? Bool } == [false, true, true])
    }

    @Test func `--keep says how many generations stay`() async throws {
        try desk.makeStore()
        for round in 1...5 {
            // What was current until two seconds ago stays for a moment.
            if round == 5 { try await Task.sleep(for: .milliseconds(2100)) }
            try TestStore.make(at: desk["Recipes.sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Pie \(round)')")
            let line = "$SHIP send Recipes.sqlite --to - | $SHIP receive --into inbox --from - --keep 2"
            try await desk.shell(line).expectSuccess()
        }
        let objects = try await desk.run("list", "--into", "inbox", "--json").objects()
        #expect(objects.map { $0["generation"] as? Int } == [4, 5])
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `prune tells of each store, and goes on with the others where one is busy`() async throws {
        for store in ["A.sqlite", "B.sqlite", "C.sqlite"] {
            try desk.makeStore(store)
            try await install(store)
            try TestStore.make(at: desk[store], sql: "DELETE FROM recipe WHERE id = 1")
            try await install(store)
        }
        let busy = try FolderLock.take(.exclusive, on: desk["inbox/.ship-store/B"])
        defer { withExtendedLifetime(busy) { _ in } }
        let pruned = try await desk.run("prune", "--into", "inbox", "--keep", "1", "--json")
        #expect(pruned.status == .exited(75), "\(pruned.stderr)")
        #expect(try pruned.objects().map { $0["name"] as? String } == ["A", "C", nil])
    }

    @Test func `an empty inbox is no error`() async throws {
        try await desk.listen().stop().expectSuccess()
        let list = try await desk.run("list", "--into", "inbox").expectSuccess()
        #expect((list.stdout, list.stderr) == ("", "no store has been installed yet\n"))
        let verified = try await desk.run("verify", "inbox").expectSuccess()
        #expect((verified.stdout, verified.stderr) == ("", "there is nothing to verify yet\n"))
        // A monitor that asks for young copies has none.
        for limit in ["1m", "8d"] {
            try await desk.run("verify", "inbox", "--max-age", limit).expectFailure(
                66, "there is no store yet", hint: "receive one first")
        }
        let inspected = try await desk.run("inspect", "inbox").expectSuccess()
        #expect((inspected.stdout, inspected.stderr) == ("", "there is nothing to inspect yet\n"))
    }

    @Test func `a store whose generations are gone is damaged`() async throws {
        try desk.makeStore()
        try await install("Recipes.sqlite")
        let generations = desk["inbox/.ship-store/Recipes/generations"]
        for name in try Folder.names(in: generations) { try Folder.removeTree(at: generations.appending(name)) }
        let outcome = try await desk.run("verify", "inbox")
        #expect(outcome.status != .exited(0) && outcome.stdout.hasPrefix("damaged  "), "\(outcome.stderr)")
        #expect(outcome.complaints.contains { $0.contains("Recipes") })
    }

    @Test(arguments: ["Photos.sqlite", ".Photos_SUPPORT/_EXTERNAL_DATA/*"])
    func `inspect does not wait for a pipe in the place of a file`(file: String) async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"], journalMode: "DELETE")
        try sample.addPhoto(key: 1, content: Data(repeating: 7, count: 20_000))
        try await install("Photos.sqlite")
        try await desk.shell("cd inbox/.ship-store/Photos/current; f=$(echo \(file)); rm $f; mkfifo $f").expectSuccess()
        for path in ["inbox", "inbox/.ship-store/Photos/current"] {
            let outcome = try await desk.run("inspect", path, timeout: .seconds(30))
            #expect(outcome.status != .exited(0))
            #expect(outcome.complaints.last == "ship-store: hint: it is no plain file: move it away")
        }
    }

    @Test func `no generation goes while inspect reads it`() async throws {
        try desk.makeLargeStore(megabytes: 20)
        try await install("Large.sqlite")
        let generation = try PlatformCalls.realPath(of: desk["inbox/.ship-store/Large/current"])
        let inspecting = try desk.start("inspect", "inbox")
        try await desk.waitUntil(within: .seconds(30)) {
            let lock = try FolderLock.take(.exclusive, on: generation)
            return lock == nil
        }
        try await inspecting.wait(timeout: .seconds(60)).expectSuccess()
    }

    enum Kind: String, CaseIterable { case inbox, generation, externalFile, manifest, shipment, store }

    @Test(arguments: Kind.allCases)
    func `verify finds one byte that is wrong`(kind: Kind) async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"], journalMode: "DELETE")
        let uuid = try sample.addPhoto(key: 1, content: Data(repeating: 7, count: 20_000))
        try await install("Photos.sqlite")
        try await desk.run("send", "Photos.sqlite", "--to", "./kept").expectSuccess()
        let generation = try PlatformCalls.realPath(of: desk["inbox/.ship-store/Photos/current"])
        let (verified, damaged, offset): (FilePath, FilePath, Int) =
            switch kind {
            case .inbox: (desk["inbox"], generation.appending("Photos.sqlite"), 9000)
            case .generation: (generation, generation.appending("Photos.sqlite"), 9000)
            case .externalFile:
                (desk["inbox"], generation.appending(".Photos_SUPPORT/_EXTERNAL_DATA/\(uuid)"), 9000)
            case .manifest: (desk["inbox"], generation.appending("manifest.json"), 0)
            case .shipment: (desk["kept"], desk["kept"], 300)
            case .store: (desk["Photos.sqlite"], desk["Photos.sqlite"], 4096)
            }
        let whole = try await desk.run("verify", verified.string).expectSuccess()
        #expect(whole.lines.count == 1 && whole.stdout.hasPrefix("whole    "))
        try PlatformCalls.changeMode(of: damaged, to: .ownerReadWrite)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: damaged.string))
        try file.seek(toOffset: UInt64(offset))
        let byte = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data([byte ^ 0xFF]))
        try file.close()
        let outcome = try await desk.run("verify", verified.string)
        #expect(outcome.status == .exited(65), "\(outcome.stderr)")
        #expect(outcome.stdout.hasPrefix("damaged  "))
        #expect(outcome.complaints.first?.hasPrefix("ship-store: error: ") == true)
        let object = try #require(try await desk.run("verify", verified.string, "--json").objects().first)
        #expect(object["isWhole"] as? Bool == false && object["error"] is String)
        #expect(try desk.leftovers == [])
    }

    /// A copy of the rows has none of this damage.
    @Test(
        arguments: [("count of free pages", 36..<40, [0, 0, 0, 1]), ("pointer map", 1024..<1124, nil)]
            as [(String, Range<Int>, [UInt8]?)])
    func `verify finds damage that a copy would not have`(what: String, place: Range<Int>, bytes: [UInt8]?) async throws
    {
        let path = desk["store.sqlite"]
        try TestStore.make(
            at: path,
            sql: """
                PRAGMA page_size = 1024; PRAGMA auto_vacuum = \(bytes == nil ? "INCREMENTAL" : "NONE"); CREATE TABLE t(a);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t SELECT hex(i) FROM n;
                DELETE FROM t WHERE rowid > 1500
                """)
        try await desk.run("verify", "store.sqlite").expectSuccess()
        var content = try Data(contentsOf: URL(fileURLWithPath: path.string))
        content.replaceSubrange(place, with: bytes ?? [UInt8](repeating: 0xFF, count: place.count))
        try content.write(to: URL(fileURLWithPath: path.string))
        let outcome = try await desk.run("verify", "store.sqlite")
        #expect(outcome.status == .exited(65) && outcome.stdout == "damaged  store.sqlite\n", "\(what)")
    }

    @Test func `verify does not call damaged what it cannot judge`() async throws {
        let queue = try TestStore.open(desk["store.sqlite"])
        try await queue.write { database in
            database.add(function: DatabaseFunction("appOrder", argumentCount: 1, pure: true) { $0.first })
            try database.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1); CREATE INDEX i ON t(appOrder(a))")
        }
        try queue.close()
        let outcome = try await desk.run("verify", "store.sqlite")
        #expect(outcome.status == .exited(65) && outcome.stdout == "unclear  store.sqlite\n")
        let object = try #require(try await desk.run("verify", "store.sqlite", "--json").objects().first)
        #expect(object["isWhole"] as? Bool == false && object["isJudged"] as? Bool == false)
    }

    @Test func `verify checks a shipment within the limits that it is given`() async throws {
        try desk.makeLargeStore()
        try await desk.run("send", "Large.sqlite", "--to", "./kept.shipment").expectSuccess()
        try await desk.run("verify", "kept.shipment").expectSuccess()
        let late = try await desk.run("verify", "kept.shipment", "--check-seconds", "0.001")
        #expect(late.status == .exited(65) && !late.stdout.contains("damaged"), "\(late.stderr)")
        let full = try await desk.run("verify", "kept.shipment", "--keep-free", "900000G")
        #expect(full.status == .exited(73) && !full.stdout.contains("damaged"), "\(full.stderr)")
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: ["Recipes.sqlite", "inbox", "kept.shipment"])
    func `inspect shows rows and bars`(path: String) async throws {
        try desk.makeStore(rows: 1200)
        try await install("Recipes.sqlite", "--meta", "model=7")
        try await desk.run("send", "Recipes.sqlite", "--to", "kept.shipment", "--meta", "model=7").expectSuccess()
        let outcome = try await desk.run("inspect", path).expectSuccess()
        #expect(outcome.stderr == "")
        #expect(outcome.lines.first?.hasPrefix("Recipes  ") == true)
        let row = try #require(outcome.lines.first { $0.hasPrefix("  recipe ") })
        #expect(row.contains(" 1200 ") && row.contains("█"))
        #expect(outcome.stdout.contains("  model=7\n") == (path != "Recipes.sqlite"))
        #expect(outcome.stdout.contains("sqlite_schema"))
        let object = try #require(try await desk.run("inspect", path, "--json").objects().first)
        let tables = try #require(object["tables"] as? [[String: Any]])
        #expect(tables.first?["name"] as? String == "recipe" && tables.first?["rows"] as? Int == 1200)
        #expect(try desk.leftovers == [])
    }

    @Test func `inspect names what is not the app's data, and what leaves it out`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"], journalMode: "DELETE")
        try sample.addHistory(transactions: 30)
        let queue = try TestStore.open(desk["Photos.sqlite"])
        try await queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    INSERT INTO Z_MODELCACHE VALUES (randomblob(3000));
                    CREATE INDEX by_name ON ZRECIPE(ZNAME); ANALYZE;
                    CREATE VIRTUAL TABLE "a USING b" USING fts5(title, body); INSERT INTO "a USING b" VALUES ('tea', 'hot water');
                    CREATE VIRTUAL TABLE older USING fts4(title); INSERT INTO older VALUES ('soup');
                    CREATE VIRTUAL TABLE bare USING fts5(title, content = ''); INSERT INTO bare VALUES ('pie');
                    CREATE VIRTUAL TABLE none USING fts5(title, content=ZRECIPE);
                    CREATE TABLE sqlite3_data(using_fts5)
                    """)
        }
        try queue.close()
        let object = try #require(try await desk.run("inspect", "Photos.sqlite", "--json").objects().first)
        let ballast = try #require(object["ballast"] as? [[String: Any]])
        let costs = ballast.compactMap { $0["cost"] as? Int }
        #expect(costs.count == ballast.count && costs == costs.sorted(by: >) && costs.first.map { $0 > 2500 } == true)
        let found = ballast.map { item in
            "\(item["kind"] ?? "") \(item["name"] ?? "") \(item["tables"] as? [String] ?? []) \(item["option"] ?? "")"
        }
        #expect(
            Set(found) == [
                #"history  ["ACHANGE", "ATRANSACTION"] --strip-history"#, #"modelCache  ["Z_MODELCACHE"] "#,
                #"fullTextIndex a USING b ["a USING b_data", "a USING b_docsize", "a USING b_idx"] "#,
                #"fullTextIndex older ["older_docsize", "older_segdir", "older_stat"] "#,
                #"fullTextIndex none ["none_data"] "#, #"statistics  ["sqlite_stat1"] "#,
            ])
        let lines = try await desk.run("inspect", "Photos.sqlite").lines
        #expect(
            lines.contains { $0.contains("ACHANGE, ATRANSACTION") && $0.hasSuffix(": --strip-history leaves it out") })
        #expect(lines.contains { $0.hasSuffix("Core Data's copy of the model: always goes") })

        // What is left out is not there any more; another store's tables of these names are its own.
        try await desk.run("copy", "Photos.sqlite", "--to", "copies", "--as", "Bare.sqlite", "--strip-history")
            .expectSuccess()
        try TestStore.make(
            at: desk["Other.sqlite"],
            sql:
                "CREATE TABLE ACHANGE(a); INSERT INTO ACHANGE VALUES (1); CREATE TABLE x_data(a); INSERT INTO x_data VALUES (1)"
        )
        let kinds = try await desk.run("inspect", "copies/Bare.sqlite").lines
        #expect(!kinds.contains { $0.contains("--strip-history") })
        let other = try #require(try await desk.run("inspect", "Other.sqlite", "--json").objects().first)
        #expect((other["ballast"] as? [Any])?.isEmpty == true)
    }
}
