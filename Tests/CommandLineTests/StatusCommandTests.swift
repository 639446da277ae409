import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// `status`: what an operator asks each day.
@Suite struct StatusCommandTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    /// Receives the store from a file.
    private func receive(
        _ store: String = "Recipes.sqlite", _ options: String...
    ) async throws -> ChildProgram.Outcome {
        let shipment = desk.scratchFile("shipment")
        try await desk.run("send", store, "--to", shipment.string, "-q").expectSuccess()
        return try await desk.run(["receive", "--into", "inbox", "--from", shipment.string, "-q"] + options)
    }

    private func status(_ options: String...) async throws -> (status: Ending, stores: [[String: Any]]) {
        let outcome = try await desk.run(["status", "--into", "inbox", "--json"] + options)
        return (outcome.status, try outcome.objects().filter { $0["event"] == nil })
    }

    private typealias Ending = ChildProgram.Ending

    @Test func `what was refused is told until a shipment of the store succeeds`() async throws {
        #expect(try await receive("Recipes.sqlite", "--user-version", "7").status == .exited(65))
        let first = try await status()
        #expect(first.status == .exited(80))
        let store = try #require(first.stores.first)
        #expect(store["state"] as? String == "failing" && store["name"] as? String == "Recipes")
        let failure = try #require(store["failure"] as? [String: Any])
        #expect(failure["code"] as? String == "wrong-schema")
        #expect(failure["error"] as? String == "the store's user_version is 0, not 7")
        #expect(failure["hint"] as? String == "update the reader, and say what it takes with --user-version")
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".failed", ".format", ".lock"])
        let words = try await desk.run("status", "--into", "inbox")
        #expect(words.status == .exited(80))
        #expect(
            words.complaints.first
                == "ship-store: error: the last shipment of Recipes failed: the store's user_version is 0, not 7")
        #expect(words.stdout.contains("failing  Recipes\n   failed 20"))

        try await receive().expectSuccess()
        let second = try await status()
        #expect(second.status == .exited(0))
        #expect(second.stores.first?["state"] as? String == "ok" && second.stores.first?["generation"] as? Int == 1)
        #expect(try Folder.names(in: desk["inbox/.ship-store"]) == [".format", ".lock", "Recipes"])
    }

    @Test func `what is halted before anything of it has come is told`() async throws {
        try await desk.run("send", "Recipes.sqlite", "--to", "dir:public/kitchen").expectSuccess()
        try await desk.run("publish", "--halt", "dir:public/kitchen").expectSuccess()
        func receive() async throws {
            try await desk.run("receive", "--into", "inbox", "--from", "dir:public/kitchen").expectSuccess()
        }
        for _ in 0..<2 {
            try await receive()
            let status = try await desk.run("status", "--into", "inbox").expectSuccess()
            #expect(status.stdout.contains("empty  Recipes") && status.stdout.contains("halted by its publisher since"))
        }
        try await desk.run("prune", "--into", "inbox").expectSuccess()
        #expect(try await desk.run("status", "--into", "inbox").stdout.contains("halted by its publisher since"))
        try await desk.run("publish", "--halt", "dir:public/kitchen", "Other").expectFailure(
            66, "Other is not published at dir:public/kitchen", hint: "published there: Recipes")
        try await desk.run("publish", "--resume", "dir:public/kitchen").expectSuccess()
        try await receive()
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try await !desk.run("status", "--into", "inbox").stdout.contains("halted"))
    }

    /// What a reader cannot read is no copy, whatever its records say.
    @Test(arguments: [
        "rm $G/Recipes.sqlite", "chmod u+w $G/Recipes.sqlite; truncate -s 100 $G/Recipes.sqlite",
        "rm $G/Recipes.sqlite; mkfifo $G/Recipes.sqlite", "rm $G/Recipes.sqlite; mkdir $G/Recipes.sqlite",
        "rm $G/manifest.json", "rm -r $G", "rm $D/current", "ln -sfn /etc $D/current",
    ])
    func `a store that cannot be read is failing`(damage: String) async throws {
        try await receive().expectSuccess()
        try desk.execute("PRAGMA user_version = 3", in: "Recipes.sqlite")
        try await receive().expectSuccess()
        try await desk.shell("D=inbox/.ship-store/Recipes; G=$(echo $D/generations/2-*); \(damage)").expectSuccess()
        let told = try await desk.run("status", "--into", "inbox")
        #expect(told.status == .exited(80), "\(damage) \(told.stdout)")
        #expect(told.stdout.contains("failing  Recipes") && told.complaints.count == 2)
        #expect(!damage.contains("/etc") || told.stdout.contains("it is no link to a generation"))
        // The others tell it as well: 66 would say that nothing has come yet.
        let isGone = !["mkfifo", "mkdir", "truncate"].contains { damage.contains($0) }
        for command in [["verify", "inbox"], ["verify", "inbox", "--max-age", "1h"], ["inspect", "inbox"]] where isGone
        {
            let outcome = try await desk.run(command)
            #expect(outcome.status == .exited(65) && outcome.complaints.count == 2, "\(damage) \(outcome.stderr)")
        }
        let listed = try await desk.run("list", "--into", "inbox")
        #expect(listed.complaints.contains { $0.contains("is damaged: ") }, "\(damage) \(listed.stderr)")
        let watching = try desk.start("watch", "--into", "inbox", "--json")
        let line = try await watching.waitForLine(containing: "Recipes", on: .output, timeout: .seconds(10))
        #expect(line.contains(#""event":"unreadable""#), "\(damage) \(line)")
        watching.signal(SIGTERM)
        try await watching.wait(timeout: .seconds(10)).expectSuccess()
        // A shipment mends what is no file of its own.
        guard damage.contains("$G/R") else { return }
        try await receive().expectSuccess()
        #expect(try await status().status == .exited(0))
    }

    @Test func `a failure beside a copy, and what forgets it`() async throws {
        try desk.makeStore("Other.sqlite")
        try await receive().expectSuccess()
        try desk.execute("PRAGMA user_version = 3", in: "Recipes.sqlite")
        for store in ["Recipes.sqlite", "Other.sqlite"] {
            #expect(try await receive(store, "--max-store", "1k").status == .exited(73))
        }
        let failing = try await status()
        #expect(failing.status == .exited(80))
        #expect(failing.stores.map { $0["generation"] as? Int } == [nil, 1])
        #expect(failing.stores.allSatisfy { ($0["failure"] as? [String: Any])?["code"] as? String == "too-large" })
        // Of this one there is nothing else.
        try await desk.run("forget", "Other", "--into", "inbox").expectSuccess()
        #expect(try await status().stores.count == 1)
        try await desk.run("forget", "Recipes", "--into", "inbox").expectSuccess()
        let none = try await status()
        #expect(none.status == .exited(0) && none.stores.isEmpty)
        #expect(try await desk.run("forget", "Recipes", "--into", "inbox").status == .exited(66))
    }

    @Test func `a store that is held is no failure until a shipment is refused`() async throws {
        try await receive().expectSuccess()
        try desk.execute("PRAGMA user_version = 3", in: "Recipes.sqlite")
        try await receive().expectSuccess()
        try await desk.run("rollback", "Recipes", "--into", "inbox").expectSuccess()
        let held = try await status()
        #expect(held.status == .exited(0) && held.stores.first?["state"] as? String == "held")
        #expect(held.stores.first?["onHoldSince"] is String)
        try desk.execute("PRAGMA user_version = 4", in: "Recipes.sqlite")
        #expect(try await receive().status == .exited(73))
        let refused = try await status()
        #expect(refused.status == .exited(80))
        #expect((refused.stores.first?["failure"] as? [String: Any])?["code"] as? String == "held")
    }

    @Test func `the sender is named as this device calls it`() async throws {
        let phone = try await desk.id(of: "phone")
        try await desk.run("trust", phone, "--name", "phone", "-q").expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--to", "./1.shipment", "--sign", "--identity", "phone")
            .expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", "./1.shipment").expectSuccess()
        let store = try #require(try await status().stores.first)
        #expect(store["producer"] as? String == phone && store["producerName"] as? String == "phone")
        #expect(store["counter"] as? Int == 1)
        let nobody = try #require(try await status("--identity", "none").stores.first)
        #expect(nobody["producer"] as? String == phone && nobody["producerName"] == nil)
        #expect(!FileManager.default.fileExists(atPath: desk["none"].string))
    }

    @Test func `what has come of a shipment that broke off is told, and goes on undisturbed`() async throws {
        try desk.makeLargeStore(megabytes: 8)
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, cuts: [4_000_000])
        #expect(try await desk.run("send", "Large.sqlite", "--to", relay.address).status == .exited(76))
        _ = try await receiver.program.waitForLine(containing: "not installed: ")
        let cut = try await status()
        #expect(cut.status == .exited(80))
        let store = try #require(cut.stores.first)
        let unfinished = try #require((store["unfinished"] as? [[String: Any]])?.first)
        #expect((2_000_000...4_100_000).contains(unfinished["bytes"] as? Int ?? 0), "\(unfinished)")
        #expect(store["generation"] == nil)
        let sender = try desk.start("send", "Large.sqlite", "--to", relay.address, "--json")
        while !sender.hasEnded { _ = try await status() }
        let sent = try await sender.wait().expectSuccess()
        #expect(try sent.events().contains { $0["event"] as? String == "resumed" })
        try await desk.waitUntil { try Folder.names(in: desk["inbox/.ship-store"]) == [".format", ".lock", "Large"] }
        #expect(try await status().status == .exited(0))
        try await receiver.stop().expectSuccess()
    }

    @Test func `it only reads`() async throws {
        try await receive().expectSuccess()
        #expect(try await receive("Recipes.sqlite", "--max-store", "1k").status == .exited(73))
        let trace = desk.scratchFile("trace")
        let outcome = try await desk.start(
            ["status", "--into", "inbox"],
            through: [
                "strace", "-f", "-y", "-s", "4096", "-e", "trace=%file,flock,fcntl,ftruncate,fchmod", "-o",
                trace.string,
            ], input: .nothing
        ).wait()
        #expect(outcome.status == .exited(80))
        let calls = try String(contentsOfFile: trace.string, encoding: .utf8).split(separator: "\n")
            .filter { $0.contains("inbox") || $0.contains(desk.configuration.string) }
        #expect(calls.count > 10)
        let changing = [
            "O_WRONLY", "O_RDWR", "O_CREAT", "mkdir", "rename", "unlink", "link(", "linkat(", "flock(", "F_SETLK",
            "F_OFD_SETLK", "truncate", "chmod", "utimens",
        ]
        for call in calls where !call.contains("readlink") {
            #expect(!changing.contains(where: call.contains), "\(call)")
        }
    }

    @Test func `a current generation that cannot be read is a failure, and a damaged note is none`() async throws {
        try await receive().expectSuccess()
        try Data("{".utf8).write(to: URL(fileURLWithPath: desk["inbox/.ship-store/.failed"].string))
        #expect(try await status().status == .exited(0))
        let manifest = desk["inbox/.ship-store/Recipes/current/manifest.json"]
        try FileManager.default.removeItem(atPath: manifest.string)
        let damaged = try await status()
        #expect(damaged.status == .exited(80))
        #expect(damaged.stores.first?["state"] as? String == "failing" && damaged.stores.first?["error"] is String)
    }

    @Test func `an age is asked of inboxes only`() async throws {
        try PlatformCalls.makeFolder(desk["empty"])
        for path in ["empty", "Recipes.sqlite"] {
            try await desk.run("verify", path, "--max-age", "1m").expectFailure(
                64, "--max-age is for an inbox, the folder of `receive --into`, and \(path) is none",
                hint: "see `ship-store verify --help`")
        }
        #expect(try await desk.run("verify", "none", "--max-age", "1m").status == .exited(66))
    }
}
