import TestSupport
import Testing

/// What is published for some receivers first, with the program's own options.
@Suite struct RolloutCommandTests {
    private static let place = "dir:public/kitchen"

    @Test func `half of the devices take it, the others say for what they wait, and all take it once it is released`()
        async throws
    {
        let desk = try Desk()
        try desk.makeStore(rows: 300)
        let devices = (1...16).map { "device\($0)" }
        func receive() async throws -> [ChildProgram.Outcome] {
            var outcomes: [ChildProgram.Outcome] = []
            for device in devices {
                let outcome = try await desk.run(
                    "receive", "--into", "inbox-\(device)", "--from", Self.place, "--identity", device, "--json")
                outcome.expectSuccess()
                outcomes.append(outcome)
            }
            return outcomes
        }
        func holders() throws -> Set<String> {
            try Set(devices.filter { try desk.hasInstalled("Recipes", in: "inbox-\($0)", from: "Recipes.sqlite") })
        }
        try await desk.run("send", "Recipes.sqlite", "--to", Self.place).expectSuccess()
        _ = try await receive()
        #expect(try holders().count == devices.count)
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        try await desk.run("send", "Recipes.sqlite", "--to", Self.place, "--rollout", "50%,60%:1d").expectSuccess()
        let outcomes = try await receive()
        let first = try holders()
        #expect((1..<devices.count).contains(first.count))
        for (device, outcome) in zip(devices, outcomes) {
            let waits = try outcome.objects().filter { $0["event"] as? String == "waiting" }
            #expect(waits.count == (first.contains(device) ? 0 : 1), "\(device): \(outcome.stdout)")
        }
        _ = try await receive()
        #expect(try holders() == first)
        try await desk.run("publish", "--release", Self.place, "Recipes").expectSuccess()
        _ = try await receive()
        #expect(try holders().count == devices.count)
        #expect(try desk.leftovers == [])
    }

    /// Whoever holds the place may lose what lies there.
    @Test func `a state that is sent again as something of it is gone is for the same devices as before`() async throws
    {
        let desk = try Desk()
        try desk.makeStore(rows: 300)
        func receive() async throws -> Bool {
            try await desk.run("receive", "--into", "inbox", "--from", Self.place, "--identity", "watch")
                .expectSuccess()
            return try desk.hasInstalled("Recipes", in: "inbox", from: "Recipes.sqlite")
        }
        try await desk.run("send", "Recipes.sqlite", "--to", Self.place).expectSuccess()
        #expect(try await receive())
        try desk.execute("INSERT INTO recipe(title) VALUES ('new')", in: "Recipes.sqlite")
        try await desk.run("send", "Recipes.sqlite", "--to", Self.place, "--rollout", "0.01%").expectSuccess()
        try await desk.shell("rm -r public/kitchen/objects/*").expectSuccess()
        try await desk.run("send", "Recipes.sqlite", "--to", Self.place).expectSuccess()
        #expect(try await !receive())
        try await desk.run("publish", "--release", Self.place, "Recipes").expectSuccess()
        #expect(try await receive())
        #expect(try desk.leftovers == [])
    }

    @Test(arguments: [
        ("1", "percentage"), ("0%", "percentage"), ("101%", "percentage"), ("0.001%", "percentage"),
        ("", "missing value"),
        ("10%,5%", "larger"), ("5%:1h,10%:1m", "shorter"), ("5%:soon", "soon"), ("-5%", "percentage"),
        ("nan%", "percentage"),
    ])
    func `shares that make no sense are refused with words`(shares: String, word: String) async throws {
        let desk = try Desk()
        try desk.makeStore()
        let outcome = try await desk.run("send", "Recipes.sqlite", "--to", Self.place, "--rollout=\(shares)")
        #expect(outcome.status == .exited(64) && outcome.stderr.contains(word), "\(outcome.stderr)")
    }

    @Test func `a rollout is of one state that is published`() async throws {
        let desk = try Desk()
        try desk.makeStore()
        for words in [
            ["--to", "127.0.0.1:1"], ["--to", Self.place, "--follow"], ["--to", "./out.shipment"],
            ["--listen", "127.0.0.1:0"],
        ] {
            let outcome = try await desk.run(["send", "Recipes.sqlite", "--rollout", "5%"] + words)
            #expect(
                outcome.status == .exited(64) && outcome.stderr.contains("--rollout"), "\(words): \(outcome.stderr)")
        }
        let nothing = try await desk.run("publish", "--release", Self.place)
        #expect(nothing.status == .exited(66))
        try await desk.run("send", "Recipes.sqlite", "--to", Self.place, "--rollout", "5%").expectSuccess()
        #expect(try await desk.run("publish", "--release", Self.place, "Notes").status == .exited(66))
        let left = try await desk.run("publish", "--release", Self.place).expectSuccess()
        #expect(left.stderr == "what is at \(Self.place) is for all receivers\n")
        try await desk.run("publish", "--halt", Self.place).expectSuccess()
        let halted = try await desk.run("publish", "--release", Self.place)
        #expect(halted.stderr.contains("no receiver takes Recipes until `ship-store publish --resume \(Self.place)`"))
    }
}
