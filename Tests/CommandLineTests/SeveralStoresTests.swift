import Foundation
import SystemPackage
import TestSupport
import Testing

/// Several stores over one link: each has an outcome of its own.
@Suite struct SeveralStoresTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        for (rows, name) in [(3, "Recipes"), (500, "Photos"), (40, "Notes")] {
            try desk.makeStore("\(name).sqlite", rows: rows)
        }
    }

    private static let all = ["Recipes", "Photos", "Notes"]
    private static let files = all.map { "\($0).sqlite" }

    /// Lets the inbox hold another store under the name of the second.
    private func occupyPhotos() async throws {
        try TestStore.make(at: desk["Other.db"], sql: "CREATE TABLE invoice(a); INSERT INTO invoice VALUES (1)")
        try await desk.shell("$SHIP send Other.db --name Photos --to - -q | $SHIP receive --into inbox --from - -q")
            .expectSuccess()
    }

    /// Expects that the inbox has the stores but for the second, and nothing half done.
    private func expectTheOthers() async throws {
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(try desk.hasInstalled("Notes", from: "Notes.sqlite"))
        #expect(try desk.leftovers == [])
        try await desk.run("verify", "inbox").expectSuccess()
    }

    private static let refusal =
        "another store is there under the name Photos: it has no table of the same name as any "
        + "of the shipment"

    @Test func `all arrive in one session, and need not come again`() async throws {
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--json")
        for outcome in ["installed", "unchanged"] {
            let sent = try await desk.run(["send"] + Self.files + ["--to", receiver.address, "--json"]).expectSuccess()
            let events = try sent.events()
            #expect(events.filter { $0["event"] as? String == "connected" }.count == 1)
            let finished = events.filter { $0["event"] as? String == "finished" }
            #expect(finished.compactMap { $0["name"] as? String } == Self.all)
            for each in finished { #expect((each["receipt"] as? [String: Any])?["outcome"] as? String == outcome) }
        }
        let received = try await receiver.stop()
        try received.expectOutput(of: "receive")
        let events = try received.events()
        #expect(events.filter { $0["event"] as? String == "connected" }.count == 2)
        let finished = events.filter { $0["event"] as? String == "finished" }
        #expect(finished.compactMap { $0["name"] as? String } == Self.all + Self.all)
        #expect(finished.compactMap { $0["session"] as? Int } == [1, 1, 1, 2, 2, 2])
        try await expectTheOthers()
        #expect(try desk.hasInstalled("Photos", from: "Photos.sqlite"))
    }

    @Test func `one that the receiver refuses does not hold up the next`() async throws {
        try await occupyPhotos()
        let receiver = try await desk.listen()
        let sent = try await desk.run(["send"] + Self.files + ["--to", receiver.address])
        #expect(sent.status == .exited(73))
        #expect(sent.stderr.contains("Photos was not shipped: the receiver refused the shipment: \(Self.refusal)\n"))
        #expect(sent.complaints.last?.hasPrefix("ship-store: hint: send it under another name") == true)
        let received = try await receiver.stop()
        #expect(received.stderr.contains("not installed: \(Self.refusal)\n"))
        #expect(received.stderr.contains("installed Notes, generation 1, in "))
        try await expectTheOthers()
    }

    @Test func `nor does it where nobody can be told`() async throws {
        try await occupyPhotos()
        let outcome = try await desk.bash(
            """
            set +e; set -o pipefail
            $SHIP send \(Self.files.joined(separator: " ")) --no-remember --to - | $SHIP receive --into inbox --from -
            echo "${PIPESTATUS[*]}"
            """)
        #expect(outcome.stdout == "0 73\n")
        #expect(outcome.stderr.contains("wrote Notes to standard output: "))
        #expect(outcome.stderr.contains("not installed: \(Self.refusal)\n"))
        try await expectTheOthers()
    }

    @Test func `one that is refused is what the receiver ends with, though the stream breaks later`() async throws {
        try await occupyPhotos()
        let sent = try await desk.bash("$SHIP send \(Self.files.joined(separator: " ")) --no-remember --to - -q > all")
        sent.expectSuccess()
        let all = try Array(Data(contentsOf: URL(filePath: desk["all"].string)))
        let received = try await desk.run("receive", "--into", "inbox", "--from", "-", input: .bytes(all.dropLast(30)))
        #expect(received.status == .exited(73))
        #expect(received.stderr.contains("not installed: the stream ended early"))
        #expect(received.complaints.first?.hasSuffix(Self.refusal) == true)
    }

    @Test func `nor does one that cannot be copied`() async throws {
        let receiver = try await desk.listen()
        let sent = try await desk.withLockedStore {
            try await desk.run(
                "send", "Recipes.sqlite", "Locked.sqlite", "Notes.sqlite", "--to", receiver.address,
                "--busy-timeout", "0.2")
        }
        #expect(sent.status == .exited(75))
        #expect(sent.stderr.contains("Locked was not shipped: "))
        _ = try await receiver.stop()
        try await expectTheOthers()
    }

    @Test func `one that is not there is told before anything goes`() async throws {
        let receiver = try await desk.listen()
        try await desk.run("send", "Recipes.sqlite", "Missing.sqlite", "--to", receiver.address).expectFailure(
            66, "there is no store at Missing.sqlite", hint: "check the path")
        #expect(try await !receiver.stop().stderr.contains("receiving"))
    }

    @Test func `a file has all of them, or is not there`() async throws {
        let failed = try await desk.run("send", "Recipes.sqlite", "Missing.sqlite", "--to", "all.shipment")
        #expect(failed.status == .exited(66))
        #expect(!FileManager.default.fileExists(atPath: desk["all.shipment"].string))
        try await desk.run(["send"] + Self.files + ["--to", "all.shipment"]).expectSuccess()

        let verified = try await desk.run("verify", "all.shipment", "--json").expectSuccess()
        let manifests = try verified.objects().compactMap { $0["manifest"] as? [String: Any] }
        #expect(manifests.compactMap { $0["name"] as? String } == Self.all)
        let inspected = try await desk.run("inspect", "all.shipment", "--json").expectSuccess()
        #expect(try inspected.objects().count == 3)

        try await desk.run("receive", "--into", "inbox", "--from", "all.shipment").expectSuccess()
        try await expectTheOthers()
        #expect(try desk.hasInstalled("Photos", from: "Photos.sqlite"))
    }

    @Test func `what breaks in the midst of a file leaves those before it`() async throws {
        try await desk.run(["send"] + Self.files + ["--to", "all.shipment"]).expectSuccess()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: desk["all.shipment"].string))
        var damaged = bytes
        // In the last of the three.
        damaged[bytes.count - 100] ^= 1
        for broken in [bytes.dropLast(50), damaged] {
            try broken.write(to: URL(fileURLWithPath: desk["broken.shipment"].string))
            let outcome = try await desk.run("receive", "--into", "inbox", "--from", "broken.shipment")
            #expect(outcome.status == .exited(65))
            #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
            #expect(try desk.hasInstalled("Photos", from: "Photos.sqlite"))
            #expect(!FileManager.default.fileExists(atPath: desk["inbox/Notes.sqlite"].string))
            #expect(try desk.leftovers == [])
        }
    }

    @Test func `what breaks between two is told of neither`() async throws {
        let bytes = try await desk.shipment(of: "Recipes.sqlite")
        try Data(bytes + [0x01]).write(to: URL(fileURLWithPath: desk["more.shipment"].string))
        let outcome = try await desk.run("receive", "--into", "inbox", "--from", "more.shipment", "--json")
        #expect(outcome.status == .exited(65))
        let events = try outcome.events()
        #expect(events.first { $0["event"] as? String == "finished" }?["name"] as? String == "Recipes")
        let failed = events.filter { $0["event"] as? String == "failed" }
        #expect(failed.count == 1 && failed[0]["name"] == nil)
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
    }

    @Test func `of a shipment that is cut off to nothing nothing is whole`() async throws {
        try Data().write(to: URL(fileURLWithPath: desk["empty.shipment"].string))
        for command in ["verify", "inspect"] {
            let outcome = try await desk.run(command, "empty.shipment")
            #expect(outcome.status == .exited(65))
            #expect(!outcome.stdout.contains("whole"))
        }
    }

    @Test func `two cannot have one name, nor all of them the same`() async throws {
        try desk.makeStore("Recipes.db")
        try await desk.run("send", "Recipes.sqlite", "Recipes.db", "--to", "all.shipment").expectFailure(
            64, "two of the stores would be shipped as Recipes", hint: "send them one by one, with --name")
        let named = try await desk.run(["send"] + Self.files + ["--name", "All", "--to", "all.shipment"])
        #expect(named.status == .exited(64))
        #expect(named.stderr.contains("--name is for one store"))
        #expect(!FileManager.default.fileExists(atPath: desk["all.shipment"].string))
    }

    @Test func `a rehearsal tells of each`() async throws {
        let outcome = try await desk.run(["send"] + Self.files + ["--to", "127.0.0.1:1", "--dry-run", "--json"])
        outcome.expectSuccess()
        let told = try outcome.events().filter { $0["event"] as? String == "would-send" }
        #expect(told.compactMap { $0["name"] as? String } == Self.all)
    }

    @Test func `a receiver that is killed in the midst of the second keeps the first`() async throws {
        try desk.makeLargeStore("Photos.sqlite")
        try await desk.run(["send"] + Self.files + ["--to", "all.shipment"]).expectSuccess()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: desk["all.shipment"].string))
        let receiver = try desk.start("receive", "--into", "inbox", "--from", "-", input: .pipe)
        await receiver.write(Array(bytes.prefix(bytes.count / 2)))
        _ = try await receiver.waitForLine(containing: "installed Recipes, generation 1")
        receiver.signal(SIGKILL)
        _ = try await receiver.wait(timeout: .seconds(20))
        #expect(try desk.hasInstalled("Recipes", from: "Recipes.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: desk["inbox/Photos.sqlite"].string))
        // The next receiver sweeps, and takes the rest.
        let next = try await desk.listen()
        try await desk.run(["send"] + Self.files + ["--to", next.address]).expectSuccess()
        _ = try await next.stop()
        try await expectTheOthers()
    }
}
