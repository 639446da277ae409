import Foundation
import ShipProtocol
import ShipStoreNetwork
import StoreFiles
import StoreInbox
import StoreServing
import SystemPackage
import TestSupport
import Testing

@testable import ShipStore

/// Stores that are checked in a process of their own, and processes that do not do what they are for.
@Suite struct `A process that checks a store` {
    private let folder: ScratchFolder
    private let inbox: FilePath

    init() throws {
        folder = try ScratchFolder()
        inbox = folder.path.appending("inbox")
    }

    private func receive(
        _ file: FilePath, checkedBy program: FilePath, _ limits: CheckLimits = CheckLimits(time: .seconds(20))
    ) async -> ShipmentError? {
        var options = Consumer.Options()
        options.checking.limits = limits
        options.checking.place = .childProcess(program: program)
        do throws(ShipmentError) {
            let consumer = try Consumer(inbox: inbox, options: options)
            _ = try await consumer.receive(from: .file(file))
            return nil
        } catch {
            return error
        }
    }

    private func goodShipment() throws -> FilePath {
        let store = folder.path.appending("good.sqlite")
        try SampleStore.plain.make(at: store)
        let file = folder.path.appending("good.shipment")
        try HandmadeShipment.write(store, try HandmadeShipment.manifest(of: store), to: file)
        return file
    }

    /// A program that does not check anything.
    private func script(_ text: String) throws -> FilePath {
        let path = folder.path.appending("script")
        try Data("#!/bin/sh\n\(text)\n".utf8).write(to: URL(fileURLWithPath: path.string))
        try PlatformCalls.changeMode(of: path, to: .ownerReadWriteExecute)
        return path
    }

    private var isEmpty: Bool {
        let state = InboxProbe(inbox, store: HandmadeShipment.name).state
        return state.current == nil && state.generations.isEmpty && state.staged.isEmpty
    }

    @Test func `lets a good store in`() async throws {
        #expect(await receive(try goodShipment(), checkedBy: try BuiltProgram.path()) == nil)
        #expect(!isEmpty)
    }

    @Test(arguments: [
        ("exit 3", StoreCheck.Flaw.checkerExited(3)), ("kill -SEGV $$", .checkerSignalled(11)),
        ("kill -KILL $$", .checkerSignalled(9)),
        ("echo all is well", .checkerSaidNonsense), ("exit 0", .checkerSaidNonsense),
        ("echo '{}'", .checkerSaidNonsense), ("yes '{\"sound\":'", .checkerSaidNonsense),
    ])
    func `and comes to no verdict is told, and the store is refused`(
        text: String, flaw: StoreCheck.Flaw
    ) async throws {
        let error = await receive(try goodShipment(), checkedBy: try script(text))
        #expect(error == .badStore(flaw))
        #expect(error?.commandStatus == 65)
        #expect(isEmpty)
    }

    @Test func `that cannot be started is not the store's fault`() async throws {
        let error = await receive(try goodShipment(), checkedBy: folder.path.appending("nowhere"))
        #expect(error == .badStore(.checkerNotStarted(Errno.noSuchFileOrDirectory.rawValue)))
        #expect(error?.commandStatus == 73)
        #expect(isEmpty)
    }

    @Test func `is killed when its time is over`() async throws {
        let start = ContinuousClock.now
        let mark = folder.path.appending("mark")
        let program = try script("trap '' TERM INT HUP; sleep 8; touch \(mark)")
        let error = await receive(try goodShipment(), checkedBy: program, CheckLimits(time: .milliseconds(100)))
        #expect(error == .badStore(.tookTooLong(.milliseconds(100))))
        #expect(ContinuousClock.now - start < .seconds(7))
        #expect(isEmpty)
        #expect(!PlatformCalls.canWrite(mark))
    }

    @Test func `inherits neither files nor words`() async throws {
        let seen = folder.path.appending("seen")
        let program = try script("exec > \(seen).files; ls /proc/$$/fd; env > \(seen); pwd >> \(seen)")
        // Files that a careless program leaves to its children.
        let open = try (0..<20).map { _ in try FileDescriptor.open("/dev/null", .readOnly) }
        defer { for each in open { try? each.close() } }
        _ = await receive(try goodShipment(), checkedBy: program)
        let lines = try String(contentsOfFile: seen.string, encoding: .utf8).split(separator: "\n")
        let files = try String(contentsOfFile: "\(seen).files", encoding: .utf8).split(separator: "\n")
        // The three standard streams, and the script itself.
        #expect((3...4).contains(files.count), "\(files)")
        #expect(!lines.contains { $0.hasPrefix("HOME=") || $0.hasPrefix("PATH=/root") })
    }

    @Test func `gets nothing to read that came one way, and is not as its manifest says`() async throws {
        let asked = folder.path.appending("asked")
        let program = try script("[ -z \"$(cat)\" ] || touch \(asked); exit 3")
        let good = try goodShipment()
        let store = folder.path.appending("good.sqlite")
        let manifest = try HandmadeShipment.manifest(of: store)
        try TestStore.make(at: store, sql: "PRAGMA user_version = 7")
        let file = folder.path.appending("changed.shipment")
        try HandmadeShipment.write(store, manifest, to: file)
        guard case .install(.mismatch) = await receive(file, checkedBy: program) else {
            Issue.record("nobody noticed")
            return
        }
        #expect(!PlatformCalls.canWrite(asked))
        #expect(isEmpty)
        // What is as its manifest says gets there.
        #expect(await receive(good, checkedBy: program) == .badStore(.checkerExited(3)))
        #expect(PlatformCalls.canWrite(asked))
    }

    @Test func `reads what a sender that waits has sent while it is read back, and again what comes again`()
        async throws
    {
        var exchange = try Exchange()
        exchange.checkPlace = .childProcess(program: try BuiltProgram.path())
        exchange.sending.encoding = .wrong
        try exchange.expectInstalled(try await exchange.overSocket().receipt)
        #expect(exchange.questions == 1)
    }

    @Test func `that finds a flaw in what a sender that waits has sent has it refused`() async throws {
        var exchange = try Exchange()
        exchange.checkPlace = .childProcess(program: try script("cat > /dev/null; exit 3"))
        await #expect(throws: ShipmentError.self) { try await exchange.overSocket() }
        #expect(InboxProbe(exchange.inbox, store: "Recipes").state.current == nil)
    }

    @Test func `checks a shipment that is examined, or builds a base, as well`() async throws {
        let shipment = try goodShipment()
        var options = Producer.Options()
        options.checking.place = .childProcess(program: try script("exit 3"))
        options.earlier = shipment
        let flaw = ShipmentError.badStore(.checkerExited(3))
        let findings = try await Verification.all(of: .shipment(shipment), checking: options.checking)
        #expect(findings.map(\.problem) == [flaw])
        await #expect(throws: flaw) { try await Inspection.all(of: .shipment(shipment), checking: options.checking) }
        let producer = Producer(folder.path.appending("good.sqlite"), options: options)
        await #expect(throws: ShipmentError.earlier(shipment, .badStore(.checkerExited(3)))) {
            try await producer.send(to: folder.path.appending("next.shipment"))
        }
    }

    @Test func `stops a rollback and a restore as well`() async throws {
        let store = folder.path.appending("good.sqlite")
        try SampleStore.plain.make(at: store)
        let consumer = try Consumer(inbox: inbox)
        for statement in ["CREATE TABLE more(a)", "INSERT INTO more VALUES (1)"] {
            try TestStore.make(at: store, sql: statement)
            let file = folder.path.appending("\(UUID()).shipment")
            try HandmadeShipment.write(store, try HandmadeShipment.manifest(of: store), to: file)
            _ = try await consumer.receive(from: .file(file))
        }
        var options = RestoreOptions()
        options.checking.place = .childProcess(program: try script("exit 3"))
        let refusal = ShipmentError.badStore(.checkerExited(3))
        let name = try #require(StoreName(HandmadeShipment.name))
        let before = InboxProbe(inbox, store: HandmadeShipment.name).state
        await #expect(throws: refusal) {
            try await Rollback.perform(on: name, in: Inbox(at: inbox), checking: options.checking)
        }
        #expect(InboxProbe(inbox, store: HandmadeShipment.name).state == before)

        let generation = try #require(try Inbox(at: inbox).current(of: name))
        try TestStore.make(at: store, sql: "INSERT INTO more VALUES (2)")
        let content = try StoreContent(of: store)
        await #expect(throws: refusal) {
            try await LocalStore(store).restore(from: generation.path, options: options)
        }
        #expect(try StoreContent(of: store) == content)
    }

    /// Its receiver may end in any way.
    @Test(.enabled(if: canListProcesses), arguments: [SIGTERM, SIGKILL, nil])
    func `is there before its store, and ends without it`(signal: Int32?) async throws {
        let file = try goodShipment()
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file.string)))
        let receiver = try BuiltProgram.start(
            ["receive", "--into", inbox.string, "--from", "-", "--unsigned", "--quiet"], input: .pipe)
        await receiver.write(Array(bytes.dropLast(19)))
        let checker = try await eventually { Self.checker(startedBy: receiver.processID) }
        if let signal { receiver.signal(signal) } else { receiver.closeInput() }
        let outcome = try await receiver.wait()
        #expect(outcome.status != .exited(0))
        _ = try await eventually { Self.isRunning(checker) ? nil : true }
    }

    /// The process is started while the shipment comes in. One that is cut right then must not end its receiver in the middle
    /// of starting it, of which the receiver's runtime would complain on standard error.
    @Test func `is waited for when its shipment is cut`() async throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: try goodShipment().string)))
        let cut = folder.path.appending("cut.shipment")
        var random = RepeatableRandom(seed: 7)
        for _ in 0..<(Soak.isOn ? 400 : 60) {
            let count = Int.random(in: (bytes.count / 2)..<bytes.count, using: &random)
            try Data(bytes.prefix(count)).write(to: URL(fileURLWithPath: cut.string))
            let outcome = try await BuiltProgram.run(
                ["receive", "--into", inbox.string, "--from", cut.string, "--unsigned", "--quiet"])
            #expect(outcome.status != .exited(0))
            #expect(
                outcome.stderr.split(separator: "\n").allSatisfy { $0.hasPrefix("ship-store: ") }, "\(outcome.stderr)")
        }
    }

    private static let canListProcesses = isRunning(getpid())

    private struct NeverCame: Error {}

    private func eventually<Value>(_ value: () -> Value?) async throws -> Value {
        for _ in 0..<500 {
            if let value = value() { return value }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw NeverCame()
    }

    private static func commandLine(of process: Int32) -> String {
        (try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)) ?? ""
    }

    private static func isRunning(_ process: Int32) -> Bool { !commandLine(of: process).isEmpty }

    private static func checker(startedBy parent: Int32) -> Int32? {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { Int32($0) } ?? []
        return processes.first { process in
            let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
            return status.contains("\nPPid:\t\(parent)\n")
                && commandLine(of: process).hasSuffix("\0\(CheckerProcess.command)\0")
        }
    }

    /// Texts of 20 MB, several at once.
    @Test func `takes no more memory than it may`() async throws {
        let kind = HostileStore.schema(
            "columns of 20 MB", .refused, after: "CREATE TABLE u(a); INSERT INTO u VALUES (zeroblob(20000000))",
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE u(a, b AS (a || 1) NOT NULL, c AS (b || 2) NOT NULL,
                d AS (upper(c) || 3) NOT NULL, e AS (lower(d)) NOT NULL)' WHERE name = 'u'
                """)
        let (file, _) = try kind.shipment(in: folder.path)
        let limits = CheckLimits(time: .seconds(20), memory: 32 * 1024 * 1024)
        let error = await receive(file, checkedBy: try BuiltProgram.path(), limits)
        #expect(error == .badStore(.tookTooMuchMemory(limits.memory)))
        #expect(isEmpty)
    }

    /// One call of a function that goes on for hours, which SQLite does not interrupt.
    @Test func `is ended in the middle of what SQLite cannot leave`() async throws {
        let kind = HostileStore.schema(
            "a text that is looked for in another", .refused,
            after: "CREATE TABLE u(a); INSERT INTO u VALUES (zeroblob(20000000))",
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE u(a, b AS (instr(a, zeroblob(9000000) || x''01'')) NOT NULL)'
                WHERE name = 'u'
                """)
        let (file, _) = try kind.shipment(in: folder.path)
        let start = ContinuousClock.now
        let outcome = try await BuiltProgram.run(
            [
                "receive", "--into", inbox.string, "--from", file.string, "--check-seconds", "0.5", "--unsigned",
                "--quiet",
            ])
        #expect(outcome.status == .exited(65))
        #expect(outcome.stderr.contains("error: checking the store took longer than 0.5 s"), "\(outcome.stderr)")
        #expect(ContinuousClock.now - start < .seconds(8))
        #expect(isEmpty)
    }

    /// With the limits that nobody has changed, which takes two minutes; in a short run with some that are as real.
    @Test func `ends what takes longer than it may, and waits for what does not`() async throws {
        let endless = HostileStore.schema(
            "a column that takes for ever", .refused,
            after: "CREATE TABLE u(a); INSERT INTO u VALUES (zeroblob(20000000))",
            change: """
                UPDATE sqlite_schema SET sql = 'CREATE TABLE u(a, b AS (instr(a, zeroblob(9000000) || x''01'')) NOT NULL)'
                WHERE name = 'u'
                """)
        let (file, _) = try endless.shipment(in: folder.path)
        let (seconds, options) = Soak.isOn ? (120, []) : (5, ["--check-seconds", "5"])
        let start = ContinuousClock.now
        let outcome = try await BuiltProgram.run(
            ["receive", "--into", inbox.string, "--from", file.string, "--unsigned", "--quiet"] + options,
            timeout: .seconds(seconds + 60))
        #expect(outcome.status == .exited(65))
        #expect(outcome.stderr.contains("error: checking the store took longer than \(seconds)"), "\(outcome.stderr)")
        // Not before its time, and soon after it.
        #expect((Duration.seconds(seconds)..<(.seconds(seconds + 8))).contains(.now - start))
        #expect(isEmpty)

        // Large, and in order: it costs more than a moment, and not more than it may.
        let store = folder.path.appending("good.sqlite")
        try TestStore.make(
            at: store,
            sql: """
                CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b BLOB); CREATE INDEX t_a ON t(a);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Soak.isOn ? 2_000_000 : 200_000))
                INSERT INTO t SELECT i, hex(randomblob(20)), zeroblob(100) FROM n;
                """)
        let good = folder.path.appending("good.shipment")
        try HandmadeShipment.write(store, try HandmadeShipment.manifest(of: store), to: good)
        func receive(_ seconds: String) async throws -> ChildProgram.Outcome {
            try await BuiltProgram.run(
                [
                    "receive", "--into", inbox.string, "--from", good.string, "--unsigned", "--quiet",
                    "--full-check-up-to", "2G", "--check-seconds", seconds,
                ], timeout: .seconds(180))
        }
        let refused = try await receive("0.05")
        #expect(refused.stderr.contains("error: checking the store took longer than 0.05"), "\(refused.stderr)")
        #expect(isEmpty)
        #expect(try await receive("120").status == .exited(0))
        #expect(!isEmpty)
    }

    /// The costliest, and some that would break a careless reader.
    @Test func `ends hostile stores in time`() async throws {
        let names = [
            "a schema whose branches lead to themselves", "a column that is looked for without end",
            "an index of a pattern of many wildcards", "a payload of 2^63 bytes", "a deep expression",
            "an endless view",
        ]
        let kinds = HostileStore.all.filter { names.contains($0.description) }
        #expect(kinds.count == names.count)
        for kind in kinds {
            let place = try folder.folder("\(UUID())")
            let (file, _) = try kind.shipment(in: place)
            let outcome = try await BuiltProgram.run(
                ["receive", "--into", inbox.string, "--from", file.string, "--check-seconds", "1", "--unsigned"],
                timeout: .seconds(20))
            #expect(outcome.status == .exited(kind.end == .refused ? 65 : 0), "\(kind): \(outcome.stderr)")
            if kind.end == .refused {
                #expect(outcome.stderr.contains("hint: "), "\(kind): \(outcome.stderr)")
                #expect(isEmpty, "\(kind)")
            } else {
                try? Folder.removeTree(at: inbox)
            }
        }
    }
}
