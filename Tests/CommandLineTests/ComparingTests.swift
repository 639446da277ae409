import Foundation
import TestSupport
import Testing

/// A sender that has no copy of what the receiver holds finds what has changed all the same.
@Suite struct ComparingTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try TestStore.make(
            at: desk["Large.sqlite"],
            sql: """
                CREATE TABLE line(id INTEGER PRIMARY KEY, name TEXT, words TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                INSERT INTO line SELECT i, 'customer ' || (i * 7919 % 1000), hex(randomblob(20)) FROM n;
                CREATE INDEX names ON line(name);
                """)
    }

    private func change(_ row: Int) throws {
        try TestStore.make(at: desk["Large.sqlite"], sql: "UPDATE line SET words = 'row \(row)' WHERE id = \(row)")
    }

    @Test(arguments: [[], ["--no-remember"]])
    func `what has changed goes in a few bytes, also where nothing is remembered`(options: [String]) async throws {
        let receiver = try await desk.listen()
        try await desk.run(["send", "Large.sqlite", "--to", receiver.address] + options).expectSuccess()
        // A new phone, or a lost cache.
        try await desk.run("bases", "--remove-all").expectSuccess()
        try change(9000)
        let sent = try await desk.run(["send", "Large.sqlite", "--to", receiver.address, "--json"] + options)
        sent.expectSuccess()
        let finished = try #require(try sent.events().last)
        #expect(finished["encoding"] as? String == "delta")
        #expect(try #require(finished["wire"] as? Int) < 1000)
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
    }

    @Test func `with --plain nothing is compared`() async throws {
        let receiver = try await desk.listen()
        try await desk.run("send", "Large.sqlite", "--to", receiver.address, "--no-remember").expectSuccess()
        try change(1)
        let sent = try await desk.run("send", "Large.sqlite", "--to", receiver.address, "--plain", "--json")
        #expect(try sent.events().last?["encoding"] as? String == "blocks")
    }

    @Test func `a store is compared for who brings it, and three times a minute for who does not`() async throws {
        let probe = "SELECT NOT EXISTS (SELECT 1 FROM line WHERE words = 'row 9001')"
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--probe", probe)
        func send(_ name: String) async throws -> ChildProgram.Outcome {
            try await desk.run(
                "send", "Large.sqlite", "--to", receiver.address, "--name", name, "--no-remember", "--json")
        }
        func encoding(of name: String) async throws -> String? {
            let sent = try await send(name).expectSuccess()
            #expect(try desk.hasInstalled(name, from: "Large.sqlite"))
            return try sent.events().last?["encoding"] as? String
        }
        for name in ["A", "B"] { #expect(try await encoding(of: name) != "delta") }
        for row in [9000, 8999] {
            try change(row)
            for name in ["A", "B"] { #expect(try await encoding(of: name) == "delta") }
        }
        // Three attempts, none of which comes to anything.
        for row in [9001, 1, 2] {
            try change(row)
            let sent = try await send("A")
            #expect(sent.status != .exited(0))
        }
        try TestStore.make(at: desk["Large.sqlite"], sql: "UPDATE line SET words = 'other' WHERE id = 9001")
        #expect(try await encoding(of: "A") != "delta")
        // Each store counts for itself.
        #expect(try await encoding(of: "B") == "delta")
        try change(8998)
        #expect(try await encoding(of: "A") == "delta")
    }

    /// All that comes of a comparison is a few hundred bytes: cut at each place, it leaves the old or the new generation.
    @Test func `a link that breaks while stores are compared loses nothing`() async throws {
        func send(cutAfter cuts: Int..., options: [String] = []) async throws -> ChildProgram.Outcome {
            // A receiver lets a sender compare three times a minute.
            let receiver = try await desk.listen()
            let relay = try await CuttingRelay(to: receiver, cuts: cuts)
            let sent = try await desk.run(["send", "Large.sqlite", "--to", relay.address, "--no-remember"] + options)
            #expect(try await receiver.stop().status == .exited(0))
            return sent
        }
        try await send().expectSuccess()
        var ends: Set<ChildProgram.Ending> = []
        for cut in stride(from: 1, through: 600, by: Soak.isOn ? 1 : 53) {
            try change(cut)
            ends.insert(try await send(cutAfter: cut).status)
            let again = try await send(options: ["--json"]).expectSuccess()
            #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
            // What broke off does not make it larger.
            #expect(try #require(again.events().last?["wire"] as? Int) < 1500, "cut after \(cut)")
        }
        #expect(ends.contains(.exited(76)))
        #expect(try desk.leftovers == [])
    }
}
