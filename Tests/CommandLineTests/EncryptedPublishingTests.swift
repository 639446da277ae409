import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// Publications that only named devices can read, with the program's own options.
@Suite struct EncryptedPublishingTests {
    private static let place = "dir:public/kitchen"

    /// The key of a device at this desk.
    private static func key(of device: String, _ desk: Desk) async throws -> String {
        let outcome = try await desk.run("identity", "--encryption-key", "--identity", device).expectSuccess()
        return String(outcome.stdout.dropLast())
    }

    private static func publish(_ desk: Desk, for keys: [String], _ stores: [String] = ["Recipes.sqlite"]) async throws
        -> ChildProgram.Outcome
    {
        try await desk.run(["send"] + stores + ["--to", place] + keys.flatMap { ["--encrypt-to", $0] })
    }

    private static func receive(_ desk: Desk, as device: String) async throws -> ChildProgram.Outcome {
        try await desk.run("receive", "--into", "inbox-\(device)", "--from", place, "--identity", device)
    }

    @Test func `who is named reads it, who is not is told what to do, and who is not any more reads nothing new`()
        async throws
    {
        let desk = try Desk()
        try desk.makeStore(rows: 2000)
        let (watch, tablet) = (try await Self.key(of: "watch", desk), try await Self.key(of: "tablet", desk))
        try await Self.publish(desk, for: [watch, tablet]).expectSuccess()
        for device in ["watch", "tablet"] {
            try await Self.receive(desk, as: device).expectSuccess()
            #expect(try desk.hasInstalled("Recipes", in: "inbox-\(device)", from: "Recipes.sqlite"))
        }
        let stranger = try await Self.receive(desk, as: "stranger")
        #expect(stranger.status == .exited(77))
        #expect(
            stranger.complaints.count == 2 && stranger.stderr.contains("identity --encryption-key"),
            "\(stranger.stderr)")

        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        try await Self.publish(desk, for: [watch]).expectSuccess()
        try await Self.receive(desk, as: "watch").expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "inbox-watch", from: "Recipes.sqlite"))
        #expect(try await Self.receive(desk, as: "tablet").status == .exited(77))
        #expect(try !desk.hasInstalled("Recipes", in: "inbox-tablet", from: "Recipes.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test func `nothing of names and content is in the folder, and the other reader reads it all`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 3000)
        let watch = try await Self.key(of: "watch", desk)
        for number in 1...14 {
            try desk.execute(
                "INSERT INTO recipe(title) SELECT 'new \(number) ' || id FROM recipe LIMIT \(number % 4 == 0 ? 600 : 1)",
                in: "Recipes.sqlite")
            try await Self.publish(desk, for: [watch]).expectSuccess()
        }
        let found = try await desk.bash("! grep -rlaE 'Recipes|recipe|ship-store device|SHIPHEAD' public")
        #expect(found.status == .exited(0), "\(found.stdout)")
        let reader = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
            .appending("Protocol").appending("published.py")
        let read = try await desk.bash("python3 '\(reader)' public/kitchen --check --key watch/decryption.key")
        #expect(read.status == .exited(0), "\(read.stderr)")
        #expect(try await desk.bash("python3 '\(reader)' public/kitchen --check").status == .exited(65))
    }

    /// For others than before, or by another device, all stores are published anew, in one head.
    @Test(arguments: 0..<UInt64(Soak.isOn ? 100 : 4))
    func `whatever store cannot be read, who begins finds each that was published before`(seed: UInt64) async throws {
        let desk = try Desk()
        var random = RepeatableRandom(seed: seed)
        let names = ["Recipes", "Notes", "Songs"]
        let files = names.map { "\($0).sqlite" }
        for file in files { try desk.makeStore(file) }
        let isEncrypted = seed % 2 == 0
        let keys = isEncrypted ? [try await Self.key(of: "watch", desk), try await Self.key(of: "tablet", desk)] : []
        var (publisher, recipients) = (0, Array(keys.prefix(1)))
        func publish() async throws -> ChildProgram.Outcome {
            try await desk.run(
                ["send"] + files + ["--to", Self.place, "--identity", "phone\(publisher)"]
                    + recipients.flatMap { ["--encrypt-to", $0] })
        }
        try await publish().expectSuccess()
        for turn in 1...5 {
            if isEncrypted {
                recipients = Array(keys.prefix(Int.random(in: 1...2, using: &random)))
            } else if Bool.random(using: &random) {
                let next = try await desk.run("identity", "--identity", "phone\(publisher + 1)")
                let id = try #require(next.lines.first)
                let outcome = try await desk.run(
                    "publish", "--next-key", id, Self.place, "--identity", "phone\(publisher)")
                // One that could not publish does not name the next.
                #expect([.exited(0), .exited(75)].contains(outcome.status), "\(outcome.stderr)")
                if outcome.status == .exited(0) { publisher += 1 }
            }
            var unread: [String] = []
            for file in files {
                try desk.execute("INSERT INTO recipe(title) VALUES ('new \(turn)')", in: file)
                if Int.random(in: 0..<3, using: &random) == 0 { unread.append(file) }
            }
            // It is a store still, so that only its copy shows that it cannot be read.
            for file in unread {
                try await desk.shell(
                    "cp \(file) kept-\(file); head -c 4096 /dev/zero | tr '\\0' x | dd of=\(file) bs=4096 seek=1 conv=notrunc status=none"
                ).expectSuccess()
            }
            let outcome = try await publish()
            #expect(
                outcome.status == .exited(unread.isEmpty ? 0 : 65) || outcome.status == .exited(75), "\(outcome.stderr)"
            )
            #expect((outcome.status == .exited(0)) == unread.isEmpty)
            for file in unread { try await desk.shell("mv kept-\(file) \(file)").expectSuccess() }
            try await desk.run(
                "receive", "--into", "inbox\(turn)", "--from", Self.place, "--identity", "watch"
            ).expectSuccess()
            for (name, file) in zip(names, files) {
                let isNewest = try desk.hasInstalled(name, in: "inbox\(turn)", from: file)
                #expect(isNewest || !unread.isEmpty, "\(name) in turn \(turn)")
            }
        }
        try await publish().expectSuccess()
        try await desk.run("receive", "--into", "inbox", "--from", Self.place, "--identity", "watch").expectSuccess()
        for (name, file) in zip(names, files) { #expect(try desk.hasInstalled(name, from: file)) }
        #expect(try desk.leftovers == [])
    }

    @Test func `a sender that names nobody, or too few of the stores, publishes nothing`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try desk.makeStore("Notes.sqlite")
        let watch = try await Self.key(of: "watch", desk)
        try await Self.publish(desk, for: [watch], ["Recipes.sqlite", "Notes.sqlite"]).expectSuccess()
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        let head = try await desk.bash("sha256sum public/kitchen/head").stdout
        let forNobody = try await Self.publish(desk, for: [])
        #expect(forNobody.status == .exited(64) && forNobody.stderr.contains("--encrypt-to"), "\(forNobody.stderr)")
        let tablet = try await Self.key(of: "tablet", desk)
        let tooFew = try await Self.publish(desk, for: [watch, tablet])
        #expect(tooFew.status == .exited(64) && tooFew.stderr.contains("Notes"), "\(tooFew.stderr)")
        #expect(try await desk.bash("sha256sum public/kitchen/head").stdout == head)
        // The same ones, and what is said beside the stores, need nothing more.
        try await Self.publish(desk, for: [watch]).expectSuccess()
        try await desk.run("publish", "--halt", Self.place, "Notes").expectSuccess()
        try await desk.run("publish", "--prune", Self.place, "--grace", "0s").expectSuccess()
        try await Self.receive(desk, as: "watch").expectSuccess()
        try await Self.publish(desk, for: [watch, tablet], ["Recipes.sqlite", "Notes.sqlite"]).expectSuccess()
        try await Self.receive(desk, as: "tablet").expectSuccess()
    }

    @Test func `the next device goes on for fewer, and prunes at once`() async throws {
        let desk = try Desk()
        try desk.makeStore(rows: 2000)
        let (watch, next) = (try await Self.key(of: "watch", desk), try await Self.key(of: "next", desk))
        try await Self.publish(desk, for: [watch, next]).expectSuccess()
        let id = String(try await desk.run("identity", "--identity", "next").stdout.dropLast())
        try await desk.run("publish", "--next-key", id, Self.place).expectSuccess()
        let sending = ["send", "Recipes.sqlite", "--to", Self.place, "--identity", "next", "--encrypt-to", watch]
        try await desk.run(sending).expectSuccess()
        for grace in ["24h", "0s"] {
            try await desk.run("publish", "--prune", Self.place, "--grace", grace, "--identity", "next").expectSuccess()
            try await desk.run(sending).expectSuccess()
            try await Self.receive(desk, as: "watch").expectSuccess()
        }
        #expect(try desk.hasInstalled("Recipes", in: "inbox-watch", from: "Recipes.sqlite"))
    }

    @Test func `a pipe in the place of a file is waited for by nobody`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        try await desk.run("send", "Recipes.sqlite", "--to", Self.place).expectSuccess()
        try await desk.shell("rm public/kitchen/head; mkfifo public/kitchen/head").expectSuccess()
        for words in [
            ["receive", "--into", "inbox", "--from", Self.place], ["send", "Recipes.sqlite", "--to", Self.place],
        ] {
            let outcome = try await desk.run(words, timeout: .seconds(20))
            #expect(outcome.status == .exited(74) && outcome.stderr.contains("head"), "\(words): \(outcome.stderr)")
        }
    }

    @Test func `a key that is mistyped, or is none, is refused with words`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        let key = try await Self.key(of: "watch", desk)
        let id = String(try await desk.run("identity", "--identity", "watch").stdout.dropLast())
        #expect(id != key)
        for (text, word) in [
            (id, "identity --encryption-key"), (String(key.dropLast()), "65"), ("watch", "letters"),
            (key.replacing(key.prefix(1), with: key.hasPrefix("0") ? "1" : "0"), "group"),
        ] {
            let outcome = try await Self.publish(desk, for: [text])
            #expect(outcome.status == .exited(64) && outcome.stderr.contains(word), "\(text): \(outcome.stderr)")
        }
        let overTCP = try await desk.run("send", "Recipes.sqlite", "--to", "127.0.0.1:1", "--encrypt-to", key)
        #expect(overTCP.status == .exited(64) && overTCP.stderr.contains("publications"))
        // However people write it.
        try await Self.publish(desk, for: [key.lowercased().replacing("-", with: " ")]).expectSuccess()
        try await Self.receive(desk, as: "watch").expectSuccess()
    }
}
