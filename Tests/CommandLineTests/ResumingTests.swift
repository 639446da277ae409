import Foundation
import GRDB
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A shipment that broke off goes on where it did, whatever it was that broke it off; and what waits for that is nobody else's, and
/// goes.
@Suite struct ResumingTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try TestStore.make(
            at: desk["Large.sqlite"],
            sql: """
                CREATE TABLE line(id INTEGER PRIMARY KEY, at REAL, name TEXT, words TEXT);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
                INSERT INTO line SELECT i, i / 7.0, 'customer ' || (i * 7919 % 1000), hex(randomblob(40)) FROM n;
                CREATE INDEX line_name ON line(name);
                """)
    }

    private func change(_ sql: String = "INSERT INTO line(name) VALUES ('new')") throws {
        try TestStore.make(at: desk["Large.sqlite"], sql: sql)
    }

    private func send(to address: String, _ options: String...) async throws -> ChildProgram.Outcome {
        try await desk.run(
            ["send", "Large.sqlite", "--to", address, "--level", "6", "--json"] + options, timeout: .seconds(120))
    }

    /// What the whole shipment takes from the sender.
    private func wholeSize(_ options: [String] = ["--level", "6"]) async throws -> Int {
        let receiver = try await desk.listen(into: "whole")
        let relay = try await CuttingRelay(to: receiver)
        try await desk.run(
            ["send", "Large.sqlite", "--to", relay.address, "--no-remember", "-q"] + options
        ).expectSuccess()
        return try #require(try await relay.end().first)
    }

    /// What `list` says that waits.
    private func waiting() async throws -> [[String: Any]] {
        try await desk.run("list", "--into", "inbox", "--json").objects().compactMap {
            $0["unfinished"] as? [String: Any]
        }
    }

    private func last(_ event: String, of outcome: ChildProgram.Outcome) throws -> [String: Any]? {
        try outcome.events().last { $0["event"] as? String == event }
    }

    /// A moment after the sender the receiver hears of the cut, too.
    private func waitUntilItWaits() async throws {
        try await desk.waitUntil { try desk.leftovers.contains { $0.hasSuffix("/stream") } }
    }

    private func expectNothingLeft() async throws {
        #expect(try desk.leftovers == [])
        let bases = try await desk.run("bases", "--json")
        #expect(!bases.stdout.contains("unfinished"))
    }

    // MARK: The link

    /// How the store goes.
    enum Way: CaseIterable, Sendable {
        case columns, blocks
        var options: [String] { self == .blocks ? ["--plain", "--level", "6"] : ["--level", "6"] }
    }

    @Test(arguments: Way.allCases) func `a link that breaks again and again costs little`(way: Way) async throws {
        let size = try await wholeSize(way.options)
        let cuts = 5
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, cuts: Array(repeating: size / (cuts + 1), count: cuts))
        for cut in 0..<cuts {
            let outcome = try await desk.run(["send", "Large.sqlite", "--to", relay.address, "--json"] + way.options)
            #expect(outcome.status == .exited(76), "\(outcome.stderr)")
            #expect(outcome.stdout.contains(#""event":"resumed""#) == (cut > 0), "\(cut) \(outcome.stdout)")
            // The receiver hears of it a moment later.
            var bytes = 0
            for _ in 0..<100 where bytes <= size / (cuts + 1) * (cut + 1) * 9 / 10 {
                bytes = try await waiting().first?["bytes"] as? Int ?? 0
            }
            #expect(bytes > size / (cuts + 1) * (cut + 1) * 9 / 10)
            // Nothing is current that is not whole.
            #expect(!FileManager.default.fileExists(atPath: desk["inbox/Large.sqlite"].string))
        }
        try await desk.run(["send", "Large.sqlite", "--to", relay.address, "--json"] + way.options).expectSuccess()
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        let carried = try await relay.end()
        #expect(carried.count == cuts + 1)
        #expect(carried.reduce(0, +) < size * 102 / 100 + 65_536, "\(carried) of \(size)")
        try await expectNothingLeft()
    }

    @Test func `a store that has changed meanwhile loses nothing of what had come`() async throws {
        let size = try await wholeSize()
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, cuts: [size * 2 / 3])
        #expect(try await send(to: relay.address).status == .exited(76))
        try await waitUntilItWaits()
        try change()
        let second = try await send(to: relay.address).expectSuccess()
        #expect(try last("finishing", of: second) != nil)
        #expect(try last("finished", of: second)?["encoding"] as? String == "delta")
        #expect(second.stderr.contains("as generation 2"))
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        let carried = try await relay.end()
        #expect(carried.reduce(0, +) < size * 102 / 100 + 65_536, "\(carried) of \(size)")
        try await expectNothingLeft()
    }

    @Test func `a store that is another one by now is sent as it is`() async throws {
        let size = try await wholeSize()
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, cuts: [size * 2 / 3])
        #expect(try await send(to: relay.address).status == .exited(76))
        try await waitUntilItWaits()
        try change("DELETE FROM line WHERE id > 1000; UPDATE line SET words = hex(randomblob(500))")
        let second = try await send(to: relay.address).expectSuccess()
        #expect(second.stderr.contains("as generation 1"))
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        try await expectNothingLeft()
    }

    /// What does not compress: the receiver gets more of it than half of the store.
    @Test func `a store that changes each time gets there`() async throws {
        try change("UPDATE line SET words = randomblob(80)")
        let size = try await wholeSize(["--plain"])
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, cuts: [size * 3 / 5, size * 3 / 10])
        func send() async throws -> ChildProgram.Outcome {
            try await desk.run("send", "Large.sqlite", "--to", relay.address, "--json", "--plain")
        }
        #expect(try await send().status == .exited(76))
        try await waitUntilItWaits()
        try change()
        let second = try await send()
        #expect(second.status == .exited(76))
        #expect(try last("resumed", of: second)?["encoded"] as? Int ?? 0 > size / 2)
        try change()
        let third = try await send().expectSuccess()
        #expect(try last("resumed", of: third) != nil)
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        _ = try await relay.end()
        try await expectNothingLeft()
    }

    @Test func `without a memory the shipment begins anew, and arrives`() async throws {
        let size = try await wholeSize()
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, cuts: [size / 2])
        #expect(try await send(to: relay.address, "--no-remember").status == .exited(76))
        let second = try await send(to: relay.address, "--no-remember").expectSuccess()
        #expect(!second.stdout.contains("resumed"))
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        #expect(try desk.leftovers == [])
    }

    @Test func `a delta goes on as well`() async throws {
        let receiver = try await desk.listen()
        try await send(to: receiver.address).expectSuccess()
        try change("UPDATE line SET words = hex(randomblob(40)) WHERE id % 3 = 0")
        let relay = try await CuttingRelay(to: receiver, cuts: [300_000, 300_000])
        for _ in 0..<2 { #expect(try await send(to: relay.address).status == .exited(76)) }
        let last = try await send(to: relay.address).expectSuccess()
        #expect(try self.last("finished", of: last)?["encoding"] as? String == "delta")
        #expect(try self.last("resumed", of: last)?["encoded"] as? Int ?? 0 > 500_000)
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        try await expectNothingLeft()
    }

    // MARK: The processes

    enum Victim: CaseIterable, Sendable { case sender, receiver }

    @Test(arguments: Victim.allCases) func `kill -9 costs no more than a second`(victim: Victim) async throws {
        let size = try await wholeSize()
        var receiver = try await desk.listen()
        let rate = size / 4
        let relay = try await CuttingRelay(to: receiver, rate: rate)
        let sender = try desk.start("send", "Large.sqlite", "--to", relay.address, "--level", "6", "--json")
        _ = try await sender.waitForLine(containing: "connected to ")
        try await Task.sleep(for: .seconds(2.5))
        switch victim {
        case .sender:
            sender.signal(SIGKILL)
            _ = try await sender.wait()
        case .receiver:
            receiver.program.signal(SIGKILL)
            _ = try await receiver.program.wait()
            #expect(try await sender.wait().status != .exited(0))
            receiver = try await desk.listen()
        }
        try await desk.waitUntil { try !desk.leftovers.isEmpty }
        let next = try await CuttingRelay(to: receiver)
        // Another port is another receiver to the sender; what waits tells that it is the same.
        let second = try await send(to: next.address).expectSuccess()
        let resumed = try #require(try last("resumed", of: second)?["encoded"] as? Int)
        #expect(resumed > rate / 2, "\(resumed) of \(size)")
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        _ = try await next.end()
    }

    /// A sender with a limit waits in the middle of frames.
    @Test(arguments: [false, true]) func `whoever interrupts a sender can go on`(hasLimit: Bool) async throws {
        let size = try await wholeSize()
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, rate: hasLimit ? 100_000_000 : size / 3)
        let sender = try desk.start(
            ["send", "Large.sqlite", "--to", relay.address, "--level", "6", "--json"]
                + (hasLimit ? ["--limit-rate", "\(size / 3)"] : []))
        _ = try await sender.waitForLine(containing: "connected to ")
        try await Task.sleep(for: .seconds(1.5))
        sender.signal(SIGINT)
        _ = try await sender.wait()
        let second = try await send(to: relay.address).expectSuccess()
        #expect(second.stdout.contains("resumed"))
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
        try await expectNothingLeft()
    }

    // MARK: External files

    @Test func `external files that had come need not come again`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        var random = RepeatableRandom(seed: 7)
        for (key, size) in [3_000_000, 2_000_000, 1_000_000].enumerated() {
            let bytes = (0..<size / 8).map { _ in UInt64.random(in: 0 ... .max, using: &random) }
            try sample.addPhoto(key: key + 100, content: bytes.withUnsafeBytes { Data($0) })
        }
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, cuts: [4_000_000])
        let first = try await desk.run("send", "Photos.sqlite", "--to", relay.address, "--json")
        #expect(first.status == .exited(76), "\(first.stderr)")
        let second = try await desk.run("send", "Photos.sqlite", "--to", relay.address, "--json").expectSuccess()
        #expect(second.stdout.contains("resumed"))
        let carried = try await relay.end()
        #expect(carried.reduce(0, +) < 6_200_000, "\(carried)")
        try await desk.run("verify", "inbox").expectSuccess()
        try await expectNothingLeft()
    }

    // MARK: Who may, and how long

    @Test func `another device learns nothing of it, and its owner goes on`() async throws {
        let (phone, tablet, watch) = (
            try await desk.id(of: "phone"), try await desk.id(of: "tablet"), try await desk.id(of: "watch")
        )
        for device in [phone, tablet] {
            try await desk.run("trust", device, "--identity", "watch", "--role", "sender", "-q").expectSuccess()
        }
        for device in ["phone", "tablet"] {
            try await desk.run("trust", watch, "--identity", device, "--role", "receiver", "-q").expectSuccess()
        }
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let relay = try await CuttingRelay(to: receiver, cuts: [1_500_000, 1_500_000])
        #expect(try await send(to: relay.address, "--identity", "phone").status == .exited(76))
        try await expectWaiting(from: phone)
        // The tablet has the very same store.
        let other = try await send(to: relay.address, "--identity", "tablet")
        #expect(other.status == .exited(76))
        #expect(!other.stdout.contains("resumed"))
        try await expectWaiting(from: tablet)

        // With the trust in it goes what waits of it.
        try await desk.run("distrust", tablet, "--identity", "watch", "-q").expectSuccess()
        try desk.makeStore("Small.sqlite")
        try await desk.run("send", "Small.sqlite", "--to", receiver.address, "--identity", "phone").expectSuccess()
        #expect(try await waiting().isEmpty)
        try await send(to: relay.address, "--identity", "phone").expectSuccess()
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
    }

    @Test func `nothing waits of a device whose trust is taken back while it sends`() async throws {
        let (phone, watch) = (try await desk.id(of: "phone"), try await desk.id(of: "watch"))
        try await desk.run("trust", phone, "--identity", "watch", "--role", "sender", "-q").expectSuccess()
        try await desk.run("trust", watch, "--identity", "phone", "--role", "receiver", "-q").expectSuccess()
        let receiver = try await desk.listen(on: "127.0.0.1:0", "--identity", "watch")
        let sender = try desk.start(
            "send", "Large.sqlite", "--to", receiver.address, "--identity", "phone", "--limit-rate", "500k")
        try await waitUntilItWaits()
        try await desk.run("distrust", phone, "--identity", "watch", "-q").expectSuccess()
        #expect(try await sender.wait().status == .exited(77))
        try await desk.waitUntil { try !desk.leftovers.contains { $0.contains("/staging/") } }
    }

    private func expectWaiting(from device: String) async throws {
        var producer: String?
        for _ in 0..<100 where producer != device { producer = try await waiting().first?["producer"] as? String }
        #expect(producer == device)
    }

    @Test func `pruning and forgetting remove what waits`() async throws {
        let receiver = try await desk.listen()
        let relay = try await CuttingRelay(to: receiver, cuts: [1_500_000, 1_500_000])
        #expect(try await send(to: relay.address).status == .exited(76))
        try await waitUntilItWaits()
        let words = try await desk.run("list", "--into", "inbox").stdout
        #expect(words.hasPrefix("Large: a shipment of 20"), "\(words)")
        let dry = try await desk.run("prune", "--into", "inbox", "--dry-run")
        #expect(dry.stdout == "would go  Large  a shipment that broke off\n")
        #expect(try await waiting().count == 1)
        let pruned = try await desk.run("prune", "--into", "inbox", "--json")
        #expect(pruned.stdout.contains(#""outcome":"removed""#))
        #expect(try desk.leftovers == [])

        #expect(try await send(to: relay.address).status == .exited(76))
        try await waitUntilItWaits()
        try await desk.run("forget", "Large", "--into", "inbox").expectSuccess()
        #expect(try desk.leftovers == [])
        try await send(to: relay.address).expectSuccess()
        #expect(try desk.hasInstalled("Large", from: "Large.sqlite"))
    }
}
