import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Whatever somebody else wrote, no command prints it as it is: every string, number and member of every message, every
/// name in a store, every name of a file.
@Suite struct `Nothing from outside is printed raw` {
    private let desk: Desk
    /// Of the texts; another one each time in a soak.
    private let seed: UInt64

    init() throws {
        desk = try Desk()
        seed = Soak.isOn ? UInt64.random(in: 0...UInt64.max) : 14
    }

    /// A shipment that has every member there is.
    private func shipment() async throws -> RawStream.Frames {
        let store = desk["Photos.sqlite"]
        let sample = try CoreDataSample(at: store)
        try sample.addPhoto(key: 1, content: Data(repeating: 7, count: 5000))
        try sample.addPhoto(key: 2, content: Data(repeating: 8, count: 20_000))
        try sample.addHistory(transactions: 2)
        try await desk.run(
            "send", "Photos.sqlite", "--to", "./Photos.shipment", "--meta", "kitchen=downstairs", "--strip-history",
            "--exclude", "ZRECIPE", "--without-external-over", "10000", "--plain", "--sign", "--quiet"
        ).expectSuccess()
        return RawStream.Frames(try bytes(of: desk["Photos.shipment"]))
    }

    private func bytes(of path: FilePath) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path.string)))
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: desk[name].string))
    }

    /// Runs each command with and without `--json`.
    private func expectPlain(_ commands: [[String]], _ about: String) async throws {
        for command in commands {
            for options in [[], ["--json"]] {
                let outcome = try await desk.run(command + options)
                outcome.expectPlain("\(command.joined(separator: " ")) \(options): \(about), seed \(seed)")
                guard !options.isEmpty else { continue }
                for line in outcome.lines {
                    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
                }
            }
        }
    }

    /// The short form leaves out every other place, by the seed.
    private func isDue(_ index: Int) -> Bool { Soak.isOn || (UInt64(index) &+ seed) % 3 == 0 }

    @Test func `of a manifest, in a file or in an inbox`() async throws {
        let frames = try await shipment()
        let json = try frames.manifest()
        let places = try JSONPlaces(json)
        var texts = HostileText(seed: seed)
        for (index, path) in places.paths.enumerated() {
            let text = texts.next()
            guard isDue(index) else { continue }
            let manifest = try places.document(with: text, at: path)
            try write(frames.stream(withManifest: manifest), to: "hostile.shipment")
            let received = ["receive", "--into", "inbox-\(index)", "--from", "./hostile.shipment"]
            let about = "\(path) is \(text.debugDescription)"
            // A signature of another manifest is judged after it has been read; the second time nobody asks for it.
            try await expectPlain(
                [
                    received, received + ["--unsigned"], ["verify", "hostile.shipment"],
                    ["inspect", "hostile.shipment"],
                ],
                about)
            try await expectPlain(unsigned: frames, manifest, "plain-\(index)", about)
        }
    }

    /// The same without its signature: what breaks no rule is installed, and told of from there.
    private func expectPlain(
        unsigned frames: RawStream.Frames, _ manifest: [UInt8], _ inbox: String, _ about: String
    ) async throws {
        let others = frames.frames.filter { $0.type != FrameType.signature.rawValue }
        let stream =
            frames.preamble
            + others.flatMap { frame in
                frame.type == FrameType.manifest.rawValue
                    ? RawStream.frame(.manifest, json: manifest) : RawStream.frame(frame.type, frame.payload)
            }
        try write(stream, to: "unsigned.shipment")
        let received = try await desk.run("receive", "--into", inbox, "--from", "./unsigned.shipment")
        received.expectPlain(about)
        guard received.status == .exited(0) else { return }
        try await expectPlain(
            [
                ["list", "--into", inbox], ["verify", inbox], ["inspect", inbox], ["inspect", "unsigned.shipment"],
                ["prune", "--into", inbox], ["rollback", "Photos", "--into", inbox],
            ], about)
    }

    /// Whoever may write to an inbox may be who makes it up.
    @Test func `of a manifest that is installed`() async throws {
        let frames = try await shipment()
        try await desk.run("receive", "--into", "inbox", "--from", "./Photos.shipment", "--unsigned").expectSuccess()
        let generations = desk["inbox/.ship-store/Photos/generations"]
        let folder = generations.appending(try #require(Folder.names(in: generations).first))
        try PlatformCalls.changeMode(of: folder, to: [.ownerReadWriteExecute])
        let file = folder.appending("manifest.json")
        let places = try JSONPlaces(frames.manifest())
        var texts = HostileText(seed: seed &+ 1)
        for (index, path) in places.paths.enumerated() {
            let text = texts.next()
            guard isDue(index) else { continue }
            try? PlatformCalls.removeFile(file)
            try Data(places.document(with: text, at: path)).write(to: URL(fileURLWithPath: file.string))
            let about = "\(path) is \(text.debugDescription)"
            try await expectPlain(
                [
                    ["list", "--into", "inbox"], ["verify", "inbox"], ["inspect", "inbox"], ["inspect", folder.string],
                ],
                about)
        }
    }

    @Test func `of a change that is watched`() async throws {
        let frames = try await shipment()
        try await desk.run("receive", "--into", "inbox", "--from", "./Photos.shipment", "--unsigned").expectSuccess()
        let places = try JSONPlaces(frames.manifest())
        var texts = HostileText(seed: seed &+ 2)
        let watches = try [[], ["--json"]].map { options in
            try BuiltProgram.start(["watch", "--into", "inbox"] + options, in: desk.path)
        }
        for watch in watches { _ = try await watch.waitForLine(containing: "watching ") }
        let free = ["metadata.kitchen", "metadata.kitchen#", "producer.software", "tables.ZPHOTO#", "requires"]
        for path in places.paths where free.contains(path) {
            let manifest = try places.document(with: texts.next(), at: path)
            try write(frames.stream(withManifest: manifest), to: "hostile.shipment")
            try await desk.run("receive", "--into", "inbox", "--from", "./hostile.shipment", "--unsigned").expectPlain(
                path)
        }
        // A store with names of tables that nobody would give them.
        let text = texts.next()
        try TestStore.make(
            at: desk["Photos2.sqlite"], sql: "CREATE TABLE \(quoted(text))(a); CREATE TABLE t(\(quoted(text)))")
        try await desk.run("send", "Photos2.sqlite", "--name", "Other", "--to", "./other.shipment").expectPlain("send")
        try await desk.run("receive", "--into", "inbox", "--from", "./other.shipment", "--unsigned").expectPlain(
            "receive")
        for watch in watches {
            _ = try await watch.waitForLine(containing: "Other", on: .output)
            watch.signal(SIGTERM)
            try await watch.wait(timeout: .seconds(20)).expectPlain("watch")
        }
    }

    private func quoted(_ name: String) -> String {
        "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }

    @Test func `of a store whose schema is made of it`() async throws {
        var texts = HostileText(seed: seed &+ 3)
        for _ in 0..<4 {
            let (table, column, other) = (quoted(texts.next()), quoted(texts.next()), quoted(texts.next()))
            let name = "\(UUID().uuidString).sqlite"
            try TestStore.make(
                at: desk[name],
                sql: """
                    CREATE TABLE \(table)(\(column) INTEGER PRIMARY KEY, \(other) REFERENCES \(other)(\(column)), b NOT NULL);
                    INSERT INTO \(table) VALUES (1, 2, 3);
                    CREATE INDEX \(quoted(texts.next())) ON \(table)(\(other));
                    PRAGMA user_version = 1;
                    """)
            try await expectPlain(
                [
                    ["inspect", name], ["verify", name], ["metadata", name], ["copy", name, "--to", "copies"],
                    ["send", name, "--to", "./made.shipment", "--exclude", "no such table"],
                    ["send", name, "--to", "./made.shipment", "--name", "Made"],
                    ["receive", "--into", "inbox", "--from", "./made.shipment", "--unsigned"],
                    [
                        "receive", "--into", "inbox", "--from", "./made.shipment", "--unsigned", "--probe",
                        "SELECT x FROM y",
                    ],
                ], "table \(table.debugDescription)")
            // SQLite's complaints quote the schema.
            try TestStore.make(
                at: desk[name], sql: "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql || ' nonsense('")
            try await expectPlain(
                [["inspect", name], ["verify", name], ["metadata", name]], "a schema that is none")
            try TestStore.make(
                at: desk["null.sqlite"], sql: "DROP TABLE IF EXISTS \(table); CREATE TABLE \(table)(\(column))")
            try TestStore.make(
                at: desk["null.sqlite"],
                sql: """
                    INSERT INTO \(table) VALUES (NULL); PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = replace(sql, ')', ' NOT NULL)');
                    """)
            try await expectPlain(
                [["verify", "null.sqlite"], ["send", "null.sqlite", "--to", "./x.shipment"]], "a NULL")
        }
    }

    @Test func `of the names of files and of what is typed`() async throws {
        var texts = HostileText(seed: seed &+ 4)
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", "./good.shipment").expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./good.shipment").expectSuccess()
        try await desk.run("copy", "Recipes.sqlite", "--keep-in", "kept").expectSuccess()
        let inside = try Folder.names(in: desk["inbox/.ship-store/Recipes/generations"])
        for _ in 0..<6 {
            let name = String(texts.next().unicodeScalars.filter { $0 != "/" && $0 != "\0" })
            for folder in [
                "inbox", "inbox/.ship-store", "inbox/.ship-store/Recipes", "inbox/.ship-store/Recipes/generations",
                "kept",
                "inbox/.ship-store/Recipes/generations/\(inside[0])",
            ] {
                try? PlatformCalls.changeMode(of: desk[folder], to: [.ownerReadWriteExecute])
                try Folder.make(desk[folder].appending(FilePath.Component(name) ?? "x"))
            }
            try PlatformCalls.symbolicLink(at: desk["kept"].appending("Recipes-20261120T190405-\(name)"), to: "nowhere")
            try await expectPlain(
                [
                    ["list", "--into", "inbox"], ["verify", "inbox"], ["inspect", "inbox"], ["copies", "--in", "kept"],
                    ["verify", name], ["inspect", "./\(name)"], ["list", "--into", name],
                    ["rollback", name, "--into", name],
                    ["receive", "--into", "inbox", "--from", "./\(name)"],
                    ["receive", "--into", "good.shipment/\(name)"],
                    ["send", name, "--to", "./x.shipment"], ["send", "Recipes.sqlite", "--to", "./\(name)/x"],
                    ["send", "Recipes.sqlite", "--to", name], ["send", "Recipes.sqlite", "--to", "unix:\(name)"],
                    ["send", "Recipes.sqlite", "--to", "./x.shipment", "--meta", name],
                    ["copy", name, "--to", "copies"],
                    ["watch", "--into", name, "--once"], ["trust", name], ["distrust", name],
                    ["restore", name, "--over", name],
                    ["receive", "--into", "inbox", "--from", "./good.shipment", "--probe", name], [name],
                    ["receive", "--into", "inbox", "--model", name, "--from", "./good.shipment"], ["destroy", name],
                ], name.debugDescription)
        }
    }
}
