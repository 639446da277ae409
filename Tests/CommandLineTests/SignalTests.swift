import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// SIGINT, SIGTERM and SIGHUP at any moment: the status that a shell expects, nothing left behind, and the next run works.
@Suite struct SignalTests {
    struct Stop: Sendable, CustomTestStringConvertible {
        let signal: Int32
        let status: Int32
        let testDescription: String
    }

    static let stops = [
        Stop(signal: SIGINT, status: 130, testDescription: "SIGINT"),
        Stop(signal: SIGTERM, status: 143, testDescription: "SIGTERM"),
        Stop(signal: SIGHUP, status: 129, testDescription: "SIGHUP"),
    ]

    private let desk: Desk

    init() throws { desk = try Desk() }

    /// Stops the program, and looks at what is left.
    private func end(
        _ program: ChildProgram, _ signal: Int32, with status: Int32, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        program.signal(signal)
        let outcome = try await program.wait(timeout: .seconds(20))
        #expect(outcome.status == .exited(status), "\(outcome.stderr)", sourceLocation: sourceLocation)
        #expect(outcome.complaints == [], sourceLocation: sourceLocation)
        let leftovers = try desk.leftovers
        #expect(leftovers == [], sourceLocation: sourceLocation)
    }

    @Test(arguments: stops)
    func `a sender that waits for what its receiver holds`(stop: Stop) async throws {
        try desk.makeStore()
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--for", "-", "--to", "./a.shipment", input: .pipe)
        try await Task.sleep(for: .milliseconds(500))
        try await end(sender, stop.signal, with: stop.status)
    }

    @Test(arguments: stops)
    func `a sender that copies`(stop: Stop) async throws {
        try await desk.withLockedStore {
            let receiver = try await desk.listen(on: "127.0.0.1:0", "--once")
            let sender = try desk.start("send", "Locked.sqlite", "--to", receiver.address, "--busy-timeout", "60")
            _ = try await sender.waitForLine(containing: "connected to ")
            try await end(sender, stop.signal, with: stop.status)
            try await receiver.program.wait().expectFailure(
                75, "the sender gave up: stopped before it was done", hint: "send again what has not arrived")
        }
        let line = "$SHIP send Locked.sqlite --to - | $SHIP receive --into inbox --from -"
        try await desk.shell(line).expectSuccess()
    }

    @Test(arguments: stops)
    func `a sender whose reader takes its time`(stop: Stop) async throws {
        try desk.makeLargeStore()
        try await desk.shell("mkfifo slow.shipment").expectSuccess()
        let slow = try SlowReader(desk["slow.shipment"])
        let sender = try desk.start("send", "Large.sqlite", "--to", "slow.shipment")
        _ = try await sender.waitForLine(containing: "copied Large")
        #expect(try slow.read() > 0)
        try await end(sender, stop.signal, with: stop.status)
    }

    @Test(arguments: stops)
    func `a sender whose receiver takes its time`(stop: Stop) async throws {
        try desk.makeLargeStore(megabytes: 16)
        let server = try RawSocket.listening()
        let sender = try desk.start("send", "Large.sqlite", "--to", "127.0.0.1:\(server.port)")
        let connection = try server.socket.accepted()
        try connection.takeOffer()
        _ = try await sender.waitForLine(containing: "copied Large")
        try await end(sender, stop.signal, with: stop.status)
        _ = connection
    }

    @Test(arguments: stops)
    func `a sender of several stores says once that it was stopped`(stop: Stop) async throws {
        try desk.makeStore()
        try desk.makeStore("Notes.sqlite")
        try await desk.withLockedStore {
            for file in ["./a", "unix:watch.sock"] {
                let receiver = try await desk.listen(on: "unix:watch.sock")
                let sender = try desk.start(
                    "send", "Locked.sqlite", "Recipes.sqlite", "Notes.sqlite", "--to", file, "--busy-timeout", "60",
                    "--json")
                // Where somebody answers, the copy is made where it will be remembered.
                try await desk.waitUntil {
                    try !Folder.names(in: desk.temporary).isEmpty
                        || desk.remembered.contains { $0.hasPrefix("ship-store-") }
                }
                sender.signal(stop.signal)
                let outcome = try await sender.wait(timeout: .seconds(20))
                #expect(outcome.status == .exited(stop.status))
                try outcome.expectOutput(of: "send")
                #expect(outcome.stderr.components(separatedBy: "stopped").count == 2, "\(outcome.stderr)")
                let ends = try outcome.events().filter { ["failed", "error"].contains($0["event"] as? String) }
                #expect(ends.count == 1)
                #expect(ends.last?["status"] as? Int32 == stop.status)
                _ = try await receiver.stop()
            }
        }
    }

    @Test(arguments: stops)
    func `a sender and its child`(stop: Stop) async throws {
        try desk.makeStore()
        let sender = try desk.start("send", "Recipes.sqlite", "--to", "exec:echo child $$ >&2; sleep 600")
        let line = try await sender.waitForLine(containing: "child ")
        try await end(sender, stop.signal, with: stop.status)
        let child = try #require(line.split(separator: " ").last.flatMap { Int32($0) })
        #expect(kill(child, 0) == -1)
    }

    @Test(arguments: stops)
    func `a sender that writes a file`(stop: Stop) async throws {
        try await desk.withLockedStore {
            let sender = try desk.start("send", "Locked.sqlite", "--to", "./a", "--busy-timeout", "60", "--json")
            try await desk.waitUntil { try Folder.names(in: desk.path).contains { $0.hasPrefix(".ship-store-") } }
            try await end(sender, stop.signal, with: stop.status)
            #expect(try Folder.names(in: desk.path) == ["Locked.sqlite"])
        }
    }

    @Test(arguments: stops.filter { $0.signal != SIGHUP })
    func `a receiver that listens has done what it was asked for`(stop: Stop) async throws {
        try desk.makeStore()
        for _ in 0..<2 {
            let receiver = try await desk.listen(on: "unix:watch.sock")
            try await end(receiver.program, stop.signal, with: 0)
            #expect((try? PlatformCalls.status(of: desk["watch.sock"])) == nil)
        }
        let once = try await desk.listen(on: "127.0.0.1:0", "--once")
        try await end(once.program, stop.signal, with: stop.status)
    }

    @Test(arguments: stops)
    func `a receiver in the middle of a shipment`(stop: Stop) async throws {
        try desk.makeLargeStore()
        let shipment = try await desk.shipment(of: "Large.sqlite")
        let receiver = try desk.start("receive", "--into", "inbox", "--from", "-", input: .pipe)
        await receiver.write(Array(shipment.prefix(2_000_000)))
        _ = try await receiver.waitForLine(containing: "receiving Large")
        #expect(try desk.leftovers.contains { $0.contains("/staging/") })
        try await end(receiver, stop.signal, with: stop.status)

        let listener = try await desk.listen()
        let lastSignal = stop.signal == SIGHUP ? SIGTERM : stop.signal
        let connection = try RawSocket.connected(to: listener.port)
        try connection.write(Array(shipment.prefix(2_000_000)))
        _ = try await listener.program.waitForLine(containing: "receiving Large")
        try await end(listener.program, lastSignal, with: 0)
        _ = connection

        try await desk.run("receive", "--into", "inbox", "--from", "-", input: .bytes(shipment)).expectSuccess()
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
    }

    @Test func `what a killed receiver left is swept`() async throws {
        try desk.makeLargeStore()
        let shipment = try await desk.shipment(of: "Large.sqlite")
        let receiver = try desk.start("receive", "--into", "inbox", "--from", "-", input: .pipe)
        await receiver.write(Array(shipment.prefix(2_000_000)))
        _ = try await receiver.waitForLine(containing: "receiving Large")
        receiver.signal(SIGKILL)
        #expect(try await receiver.wait().status == .signalled(SIGKILL))
        #expect(try desk.leftovers.contains { $0.contains("/staging/") })
        let next = try await desk.listen()
        #expect(try desk.leftovers == [])
        try await end(next.program, SIGTERM, with: 0)
    }

    @Test func `what a killed receiver left is pruned, and what comes in is not`() async throws {
        try desk.makeLargeStore()
        let shipment = try await desk.shipment(of: "Large.sqlite")
        let receiver = try desk.start("receive", "--into", "inbox", "--from", "-", input: .pipe)
        await receiver.write(Array(shipment.prefix(2_000_000)))
        _ = try await receiver.waitForLine(containing: "receiving Large")
        for options in [["--dry-run"], []] {
            let nothing = try await desk.run(["prune", "--into", "inbox"] + options).expectSuccess()
            #expect(nothing.stderr == "nothing is to go\n" && nothing.stdout == "")
        }
        #expect(try desk.leftovers.contains { $0.contains("/staging/") })
        receiver.signal(SIGKILL)
        #expect(try await receiver.wait().status == .signalled(SIGKILL))
        let dry = try await desk.run("prune", "--into", "inbox", "--dry-run").expectSuccess()
        #expect(dry.stdout == "would go  Large  a shipment that broke off\n")
        #expect(try desk.leftovers.contains { $0.contains("/staging/") })
        let pruned = try await desk.run("prune", "--into", "inbox").expectSuccess()
        #expect(pruned.stdout == "removed  Large  a shipment that broke off\n")
        #expect(try desk.leftovers == [])
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".format", ".lock"])
    }

    @Test(arguments: stops)
    func `a local copy`(stop: Stop) async throws {
        try await desk.withLockedStore {
            let copy = try desk.start("copy", "Locked.sqlite", "--to", "copies", "--busy-timeout", "60")
            try await desk.waitUntil { try !Folder.names(in: desk.temporary).isEmpty }
            try await end(copy, stop.signal, with: stop.status)
            #expect(try Folder.names(in: desk.path) == ["Locked.sqlite"])
        }
    }

    /// Of each the digest of an external file that takes seconds to read.
    @Test(arguments: [["verify", "COPY"], ["restore", "COPY", "--over", "Photos.sqlite"]])
    func `a look at all bytes of a copy`(words: [String]) async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        let uuid = try sample.addPhoto(key: 1, content: Data(repeating: 7, count: 4321))
        let kept = try await desk.run("copy", "Photos.sqlite", "--keep-in", "kept")
        let copy = try #require(kept.lines.first)
        let size = 12 << 30
        let folder = desk.path.pushing(FilePath(copy))
        let manifest = URL(fileURLWithPath: folder.appending("manifest.json").string)
        let said = try String(contentsOf: manifest, encoding: .utf8)
        let large = said.replacing(/"size" ?: ?4321/) { _ in "\"size\":\(size)" }
        try #require(large != said)
        try FileManager.default.removeItem(at: manifest)
        try Data(large.utf8).write(to: manifest)
        let file = folder.appending(".Photos_SUPPORT/_EXTERNAL_DATA").appending(uuid)
        try PlatformCalls.changeMode(of: file, to: .ownerReadWrite)
        try #require(truncate(file.string, off_t(size)) == 0)
        // What is there is not read in that case.
        if words[0] == "restore" {
            try #require(truncate(sample.file("_EXTERNAL_DATA", uuid).string, off_t(size)) == 0)
        }
        let program = try desk.start(words.map { $0 == "COPY" ? copy : $0 })
        try await Task.sleep(for: .seconds(1))
        let start = ContinuousClock.now
        try await end(program, SIGINT, with: 130)
        #expect(.now - start < .seconds(3))
    }

    @Test(arguments: stops)
    func `the demo`(stop: Stop) async throws {
        let demo = try desk.start("demo")
        _ = try await demo.waitForLine(containing: "receive: listens on ")
        try await end(demo, stop.signal, with: stop.status)
        #expect(try Folder.names(in: desk.temporary) == [])
    }

    @Test func `a listener outlives its terminal`() async throws {
        try desk.makeStore()
        let receiver = try await desk.listen()
        receiver.program.signal(SIGHUP)
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        receiver.program.signal(SIGHUP)
        try await Task.sleep(for: .milliseconds(300))
        try await end(receiver.program, SIGTERM, with: 0)
    }

    @Test func `who was started not to mind SIGHUP does not`() async throws {
        try await desk.withLockedStore {
            let outcome = try await desk.shell(
                """
                trap '' HUP
                $SHIP copy Locked.sqlite --to copies --busy-timeout 60 -q & id=$!
                while ! ls -A "$TMPDIR" | grep -q .; do sleep 0.05; done
                kill -HUP $id; sleep 0.5; kill -TERM $id
                status=0; wait $id || status=$?; echo $status
                """)
            #expect(outcome.stdout == "143\n")
        }
    }

    /// A command of a watcher's may take two seconds to end.
    private func watcherWithStubbornCommand() async throws -> ChildProgram {
        try desk.makeStore()
        let receiver = try await desk.listen()
        let watcher = try desk.start(
            "watch", "--into", "inbox", "--exec", "trap '' INT TERM; echo at work >&2; sleep 4; true")
        _ = try await watcher.waitForLine(containing: "watching")
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectSuccess()
        _ = try await watcher.waitForLine(containing: "at work")
        return watcher
    }

    @Test func `a second signal ends the program at once, whatever it waits for`() async throws {
        let watcher = try await watcherWithStubbornCommand()
        watcher.signal(SIGINT)
        try await Task.sleep(for: .milliseconds(400))
        watcher.signal(SIGTERM)
        // Otherwise it would have waited, and ended well.
        #expect(try await watcher.wait(timeout: .seconds(20)).status == .exited(143))
    }

    /// A child that is stopped answers nobody, and hears of no cancellation.
    @Test(
        arguments: [
            ["receive", "--into", "inbox", "--from", "./large.shipment"], ["verify", "Recipes.sqlite"],
            ["send", "Recipes.sqlite", "--to", "exec:exec sleep 60"],
        ], [SIGTERM, SIGINT])
    func `a second signal ends what hangs in a child`(command: [String], signal: Int32) async throws {
        try desk.makeStore(rows: 600_000)
        if command[0] == "receive" {
            try await desk.run("send", "Recipes.sqlite", "--to", "./large.shipment", "-q").expectSuccess()
        }
        let program = try desk.start(command)
        let stopped = try await desk.bash(
            // One that has ended before it is stopped is not the one: each of a program's children does a part.
            """
            for i in $(seq 4000); do
              child=$(cat /proc/\(program.processID)/task/*/children | tr -d ' ')
              [ -z "$child" ] || ! kill -STOP $child || ! grep -q '^State:.T' /proc/$child/status || break
            done
            sleep 0.2; grep -q '^State:.T' /proc/$child/status; echo $child
            """
        ).expectSuccess()
        let start = ContinuousClock.now
        program.signal(signal)
        try await Task.sleep(for: .milliseconds(400))
        program.signal(signal)
        #expect(try await program.wait(timeout: .seconds(20)).status == .exited(128 + signal))
        #expect(.now - start < .seconds(3))
        _ = try await desk.shell("kill -9 \(stopped.stdout)")
    }

    /// As timeout(1) sends it.
    @Test func `the same signal twice in one moment is one`() async throws {
        let watcher = try await watcherWithStubbornCommand()
        watcher.signal(SIGTERM)
        try await Task.sleep(for: .milliseconds(20))
        watcher.signal(SIGTERM)
        #expect(try await watcher.wait(timeout: .seconds(20)).status == .exited(0))
    }
}

/// Reads one piece of a FIFO, and then no more.
final class SlowReader: Sendable {
    private let file: SystemPackage.FileDescriptor

    init(_ path: FilePath) throws {
        // For both, so that opening waits for nobody.
        file = try .open(path, .readWrite)
    }

    deinit { try? file.close() }

    /// - Returns: How many bytes there were.
    func read() throws -> Int {
        var piece = [UInt8](repeating: 0, count: 4096)
        return try piece.withUnsafeMutableBytes { try file.read(into: $0) }
    }
}
