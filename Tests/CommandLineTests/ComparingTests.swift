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

    @Test func `who has compared a store sends what changes within a minute whole`() async throws {
        let receiver = try await desk.listen()
        func encoding(of name: String) async throws -> String? {
            let sent = try await desk.run(
                "send", "Large.sqlite", "--to", receiver.address, "--name", name, "--no-remember", "--json")
            sent.expectSuccess()
            #expect(try desk.hasInstalled(name, from: "Large.sqlite"))
            return try sent.events().last?["encoding"] as? String
        }
        for name in ["A", "B"] { #expect(try await encoding(of: name) != "delta") }
        try change(9000)
        // Each store counts for itself.
        for name in ["A", "B"] { #expect(try await encoding(of: name) == "delta") }
        try change(9001)
        #expect(try await encoding(of: "A") != "delta")
    }

    /// All that comes of a comparison is a few hundred bytes: cut at each place, it leaves the old or the new generation.
    @Test func `a link that breaks while stores are compared loses nothing`() async throws {
        func send(cutAfter cuts: Int..., options: [String] = []) async throws -> ChildProgram.Outcome {
            // A receiver lets a sender compare once a minute.
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
            let again = try await send(options: ["--json"])
            again.expectSuccess()
            #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
            // What broke off does not make it larger.
            #expect(try #require(again.events().last?["wire"] as? Int) < 1500, "cut after \(cut)")
        }
        #expect(ends.contains(.exited(76)))
        #expect(try desk.leftovers == [])
    }
}
