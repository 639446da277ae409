import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Which kept copies stay, whoever else is at work in their folder, and what is said of copies that are no kept ones.
@Suite struct CopyPruningTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    /// Keeps a copy of a store, and gives its path as it is said.
    private func keep(_ store: String, in folder: String = "kept") async throws -> String {
        let outcome = try await desk.run("copy", store, "--keep-in", folder).expectSuccess()
        return try #require(outcome.lines.first)
    }

    @Test func `the only copy of a store of the same name stays`() async throws {
        for folder in ["a", "b", "c", "d"] { try PlatformCalls.makeFolder(desk[folder]) }
        // Two of one name that SQLite made, and two that Core Data did, with an identity each.
        try desk.makeStore("a/Model.sqlite")
        try desk.makeStore("b/Model.sqlite")
        _ = try CoreDataSample(at: desk["c/Model.sqlite"])
        _ = try CoreDataSample(at: desk["d/Model.sqlite"])
        try TestStore.make(at: desk["d/Model.sqlite"], sql: "UPDATE Z_METADATA SET Z_UUID = 'another'")
        var paths: [String] = []
        for folder in ["a", "b", "c", "d", "b"] { paths.append(try await keep("\(folder)/Model.sqlite")) }
        // With its identity a store is the same wherever it is.
        try PlatformCalls.makeFolder(desk["e"])
        try await desk.run("move", "c/Model.sqlite", "--to", "e", "--remove-old").expectSuccess()
        paths.append(try await keep("e/Model.sqlite"))
        let objects = try await desk.run("copies", "--in", "kept", "--json").objects()
        #expect(objects.map { $0["folder"] as? String } == paths)
        #expect(objects.map { $0["number"] as? Int } == [1, 2, 3, 4, 5, 6])
        #expect(objects[0]["original"] as? String == desk["a/Model.sqlite"].string)

        let dry = try await desk.run("copies", "--in", "kept", "--prune", "--keep", "1", "--dry-run").expectSuccess()
        #expect(dry.stderr.contains("would remove 2 copies"))
        #expect(try Folder.names(in: desk["kept"]).count == 6)
        let pruned = try await desk.run("copies", "--in", "kept", "--prune", "--keep", "1").expectSuccess()
        #expect(pruned.lines == dry.lines)
        #expect(pruned.lines.map { $0.split(separator: " ").first.map(String.init) } == [paths[1], paths[2]])
        let left = [paths[0], paths[3], paths[4], paths[5]].map { FilePath($0).lastComponent?.string }
        #expect(Set(try Folder.names(in: desk["kept"])) == Set(left.compactMap(\.self)))
    }

    @Test func `generations of an inbox are copies of one store`() async throws {
        try desk.makeStore()
        for round in 1...2 {
            let line = "$SHIP send Recipes.sqlite --to - | $SHIP receive --into inbox --from -"
            try await desk.shell(line).expectSuccess()
            _ = try await keep("inbox/Recipes.sqlite")
            try TestStore.make(at: desk["Recipes.sqlite"], sql: "UPDATE recipe SET title = '\(round)'")
        }
        let objects = try await desk.run("copies", "--in", "kept", "--json").objects()
        #expect(
            objects.map { $0["original"] as? String } == Array(repeating: desk["inbox/Recipes.sqlite"].string, count: 2)
        )
        #expect(try await desk.run("copies", "--in", "kept", "--prune", "--keep", "1").lines.count == 1)
    }

    @Test func `a path does not travel, neither in the manifest nor in a shipment`() async throws {
        try desk.makeStore("secretplace.sqlite")
        let copy = try await keep("secretplace.sqlite")
        let place = desk.path.string
        let record = try String(contentsOfFile: desk["\(copy)/copy.json"].string, encoding: .utf8)
        #expect(record == #"{"number":1,"store":"\#(place)/secretplace.sqlite"}"#)
        try await desk.run("send", "\(copy)/secretplace.sqlite", "--to", "./a.shipment", "--plain").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./a.shipment", "--unsigned").expectSuccess()
        let files = FileManager.default
        for name in try files.subpathsOfDirectory(atPath: desk["inbox"].string) + [
            "../a.shipment", "../\(copy)/manifest.json",
        ] {
            #expect(!name.hasSuffix("copy.json"))
            guard let content = files.contents(atPath: desk["inbox/\(name)"].string) else { continue }
            #expect(content.firstRange(of: Data(place.utf8)) == nil, "\(name)")
        }
    }

    @Test func `prunes, copies and restores at once take turns`() async throws {
        _ = try CoreDataSample(at: desk["Photos.sqlite"])
        for _ in 0..<12 { _ = try await keep("Photos.sqlite") }
        let restored = try await keep("Photos.sqlite")
        let commands = [
            ["copies", "--in", "kept", "--prune", "--keep", "2"], ["copies", "--in", "kept", "--prune", "--keep", "2"],
            ["copies", "--in", "kept", "--prune", "--keep", "2"], ["copy", "Photos.sqlite", "--keep-in", "kept"],
            ["restore", restored, "--over", "Photos.sqlite", "--safety-copies", "kept"],
        ]
        let outcomes = try await withThrowingTaskGroup(of: (Int, ChildProgram.Outcome).self) { group in
            for (index, command) in commands.enumerated() {
                group.addTask { [desk] in (index, try await desk.run(command)) }
            }
            return try await group.reduce(into: [Int: ChildProgram.Outcome]()) { $0[$1.0] = $1.1 }
        }
        for outcome in outcomes.values { outcome.expectSuccess() }
        let removed = (0..<3).flatMap { outcomes[$0]?.lines ?? [] }
        #expect(Set(removed).count == removed.count, "each goes once")
        let left = try await desk.run("copies", "--in", "kept", "--json").objects()
        #expect((2...4).contains(left.count))
        for path in left.compactMap({ $0["path"] as? String }) { try await desk.run("verify", path).expectSuccess() }
        #expect(try desk.leftovers == [])
    }

    @Test func `a prune that waits for its turn can be stopped, and gives up in the end`() async throws {
        try desk.makeStore()
        let copy = try await keep("Recipes.sqlite")
        let lock = try FolderLock.take(.exclusive, on: desk["kept"])
        defer { withExtendedLifetime(lock) {} }
        try await desk.run("copies", "--in", "kept", "--prune", "--keep", "0", "--busy-timeout", "0.2").expectFailure(
            75, "another program has been changing which copies are in kept for 0.2 seconds",
            hint: "try again later, or wait longer with --busy-timeout")
        for (signal, status) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            for arguments in [
                ["copies", "--in", "kept", "--prune", "--keep", "0"], ["copy", "Recipes.sqlite", "--keep-in", "kept"],
            ] {
                let program = try desk.start(arguments + ["--busy-timeout", "60"])
                try await desk.waitUntil {
                    try Folder.names(in: desk["kept"]).contains { $0.hasPrefix(".ship-store-") }
                }
                program.signal(signal)
                #expect(try await program.wait(timeout: .seconds(20)).status == .exited(status))
            }
        }
        #expect(try Folder.names(in: desk["kept"]) == [FilePath(copy).lastComponent?.string])
        #expect(try desk.leftovers == [])
    }

    @Test func `a copy that is being restored is not pruned`() async throws {
        try desk.makeStore()
        let copy = try await keep("Recipes.sqlite")
        // The restore waits for a writer, and has its copy open.
        let writer = try TestStore.open(desk["Recipes.sqlite"])
        try await writer.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let restore = try desk.start(["restore", copy, "--over", "Recipes.sqlite", "--busy-timeout", "60"])
        try await desk.waitUntil { try Folder.names(in: desk.path).contains { $0.hasPrefix(".ship-store-") } }
        let pruned = try await desk.run("copies", "--in", "kept", "--prune", "--keep", "0").expectSuccess()
        #expect(pruned.lines == [] && pruned.stderr.contains("\(copy) is being read: it stays until the next pruning"))
        try await writer.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try writer.close()
        try await restore.wait().expectSuccess()
        #expect(try await desk.run("copies", "--in", "kept", "--prune", "--keep", "0").lines.count == 1)
    }

    @Test func `three of each store stay unless somebody says otherwise, and safety copies until they are named`()
        async throws
    {
        try desk.makeStore()
        var copy = ""
        for _ in 0..<5 { copy = try await keep("Recipes.sqlite") }
        let restored = try await desk.run("restore", copy, "--over", "Recipes.sqlite", "--any-identity").expectSuccess()
        let safety = desk[".Recipes-safety"].string
        #expect(
            restored.stderr.contains("it stays until `ship-store copies --in \(safety) --prune --tag before-restore`"))
        let pruned = try await desk.run("copies", "--in", "kept", "--prune")
        #expect(pruned.lines.count == 2 && pruned.stderr.contains("removed 2 copies"))
        let beside = try await desk.run("copies", "--in", safety, "--prune", "--keep", "0").expectSuccess()
        #expect(beside.lines == [])
        #expect(beside.stderr.contains("1 copy tagged before-restore stays, unless --tag names it"))
        let named = try await desk.run("copies", "--in", safety, "--prune", "--tag", "before-restore")
        #expect(named.lines.count == 1)
        #expect(try Folder.names(in: FilePath(safety)) == [])
        for option in [["--dry-run"], ["--keep", "1"], ["--keep-for", "1h"]] {
            try await desk.run(["copies", "--in", "kept"] + option).expectFailure(
                64, "--keep, --keep-for and --dry-run belong to --prune", hint: "see `ship-store copies --help`")
        }
    }

    @Test func `a folder of single copies says what is there and what to do`() async throws {
        try desk.makeStore()
        let outcome = try await desk.run("copy", "Recipes.sqlite", "--to", "backups")
        let path = try #require(outcome.lines.first)
        let listed = try await desk.run("copies", "--in", "backups").expectSuccess()
        #expect(listed.stdout == "")
        #expect(listed.stderr.contains("1 single copy of `copy --to` there, neither listed nor pruned here"))
        #expect(listed.stderr.contains("restore one with `ship-store restore \(path) --over STORE`"))
        try await desk.run("restore", path, "--over", "Recipes.sqlite", "--any-identity").expectSuccess()
        let here = try await desk.run("copies", "--in", ".")
        #expect(here.stderr.contains("what restores kept of a store here: `ship-store copies --in ./.Recipes-safety`"))
        try await desk.shell("$SHIP send Recipes.sqlite --to - | $SHIP receive --into inbox --from -").expectSuccess()
        let inbox = try await desk.run("copies", "--in", "inbox")
        #expect(inbox.stderr.contains("it is an inbox: see `ship-store list --into inbox`"))
    }

    @Test func `two stores of one name go into one folder in one second`() async throws {
        for folder in ["a", "b"] {
            try PlatformCalls.makeFolder(desk[folder])
            try CoreDataSample(at: desk["\(folder)/Model.sqlite"]).addPhoto(key: 1, content: Data(folder.utf8))
        }
        // Whatever the clock does, two of eight fall into one second.
        let stores = (0..<4).flatMap { _ in ["a/Model.sqlite", "b/Model.sqlite"] }
        let outcome = try await desk.run(["copy"] + stores + ["--to", "g"]).expectSuccess()
        #expect(Set(outcome.lines).count == 8)
        #expect(outcome.lines.contains { $0.hasSuffix("-2.sqlite") })
        for (path, store) in zip(outcome.lines, stores) {
            let copy = desk.path.pushing(FilePath(path))
            #expect(try StoreContent(of: copy) == StoreContent(of: desk[store]))
            #expect(try Array(CoreDataSample.files(beside: copy).values) == [Data(store.prefix(1).utf8)])
        }
    }
}
