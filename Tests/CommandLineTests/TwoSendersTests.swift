import Foundation
import GRDB
import SystemPackage
import TestSupport
import Testing

/// One device that sends the same store twice at the same time: both arrive, and neither is told that it is an old one.
@Suite struct TwoSendersTests {
    private let desk: Desk
    private let receiver: Receiver

    init() async throws {
        desk = try Desk()
        try desk.makeStore()
        let (phone, watch) = (try await desk.id(of: "phone"), try await desk.id(of: "watch"))
        try await desk.run("trust", phone, "--identity", "watch", "--role", "sender", "-q").expectSuccess()
        try await desk.run("trust", watch, "--identity", "phone", "--role", "receiver", "-q").expectSuccess()
        receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch", "--keep", "100")
    }

    private func change(_ title: String = "Cake") throws {
        try TestStore.make(
            at: desk["Recipes.sqlite"], preparation: "PRAGMA busy_timeout = 10000",
            sql: "INSERT INTO recipe(title) VALUES ('\(title)')")
    }

    private func counters() async throws -> [Int] {
        try await desk.run("list", "--into", "inbox", "--json").objects().compactMap { $0["counter"] as? Int }
    }

    private static let overtaken = "a later shipment of Recipes from this device came first; taking another copy\n"

    /// Carries what goes through it; once it is told so, nothing from the sender, until it is told to go on.
    private func relay() async throws -> (program: ChildProgram, address: String) {
        let program = try ChildProgram(
            "/usr/bin/env",
            [
                "python3", "-c",
                """
                import socket, sys, threading
                free = threading.Event(); free.set()
                listener = socket.create_server(("127.0.0.1", 0))
                print("port", listener.getsockname()[1], flush=True)
                def carry(source, sink, gate):
                    while data := source.recv(65536):
                        gate.wait()
                        sink.sendall(data)
                    sink.shutdown(socket.SHUT_WR)
                def serve():
                    near, _ = listener.accept()
                    far = socket.create_connection(("127.0.0.1", \(receiver.port)))
                    always = threading.Event(); always.set()
                    threading.Thread(target=carry, args=(far, near, always), daemon=True).start()
                    carry(near, far, free)
                threading.Thread(target=serve, daemon=True).start()
                for line in sys.stdin:
                    (free.clear if line == "hold\\n" else free.set)()
                    print("done", line, end="", flush=True)
                """,
            ], input: .pipe)
        let line = try await program.waitForLine(containing: "port ", on: .output)
        return (program, "127.0.0.1:\(line.split(separator: " ").last ?? "")")
    }

    @Test(arguments: [true, false])
    func `one that is overtaken on the way takes another copy`(changesMeanwhile: Bool) async throws {
        let (relay, address) = try await relay()
        func tell(_ word: String) async throws {
            await relay.write(Array("\(word)\n".utf8))
            _ = try await relay.waitForLine(containing: "done \(word)", on: .output)
        }
        // Until it has its turn the first one waits for a program that keeps the store to itself.
        let app = try TestStore.open(desk["Recipes.sqlite"])
        try await app.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
        }
        let first = try desk.start(
            "send", "Recipes.sqlite", "--to", address, "--identity", "phone", "--busy-timeout", "60")
        _ = try await first.waitForLine(containing: "connected to ")
        try await tell("hold")
        try await app.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try app.close()
        _ = try await first.waitForLine(containing: "copied Recipes")
        try change("second")
        let second = try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone")
        second.expectSuccess()
        #expect(second.stderr.contains("as generation 1"))
        if changesMeanwhile { try change("third") }
        try await tell("go")
        let outcome = try await first.wait().expectSuccess()
        #expect(outcome.stderr.contains(Self.overtaken))
        #expect(outcome.stderr.contains(changesMeanwhile ? "as generation 2" : "unchanged: "))
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try await counters() == (changesMeanwhile ? [2, 3] : [2]))
        #expect(try desk.leftovers == [])
        relay.closeInput()
    }

    @Test func `whoever comes first, both arrive`() async throws {
        for round in 0..<(Soak.isOn ? 50 : 6) {
            try change("round \(round)")
            async let one = desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone")
            async let other = desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone")
            try change("meanwhile \(round)")
            for outcome in [try await one, try await other] { outcome.expectSuccess() }
        }
        let counters = try await counters()
        #expect(counters == counters.sorted())
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    private func loseCount() async throws {
        for _ in 0..<6 {
            try change()
            try await desk.run("send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone")
                .expectSuccess()
        }
        try FileManager.default.removeItem(atPath: desk["phone/counter"].string)
        try change()
    }

    /// There is no later one of its own: another copy would be refused as well, until enough attempts had drawn a number above the highest.
    @Test(arguments: [[], ["--retry", "30s"]])
    func `a device that has lost count takes no other copy, and does not count up again`(options: [String]) async throws
    {
        try await loseCount()
        let lost = try await desk.run(
            ["send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone"] + options)
        #expect(lost.status == .exited(77))
        #expect(!lost.stderr.contains(Self.overtaken))
        #expect(try await counters().count == 6)
    }

    @Test func `a device that has lost count and follows tries again with a change, three times at most`() async throws
    {
        try await loseCount()
        let sender = try desk.start(
            "send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone", "--follow")
        for number in 1...3 {
            try await desk.waitUntil {
                (try? String(contentsOfFile: desk["phone/counter"].string, encoding: .utf8)) == "\(number)\n"
            }
            try change()
        }
        #expect(try await sender.wait().status == .exited(77))
        #expect(try await counters().count == 6)
    }
}
