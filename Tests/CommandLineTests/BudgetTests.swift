import Foundation
import TestSupport
import Testing

/// What a receiver does not take although it is whole: too much of it.
@Suite struct BudgetTests {
    private let desk: Desk

    init() throws {
        desk = try Desk()
        try desk.makeStore()
    }

    @Test func `a store that is larger than allowed is refused before it is sent`() async throws {
        // Three pages: the schema, the table, the index.
        let size = 3 * 4096
        let receiver = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--max-store", "\(size - 1)")
        let cause = "the store has \(size) bytes; at most \(size - 1) are allowed"
        try await desk.run("send", "Recipes.sqlite", "--to", receiver.address).expectFailure(
            73, "the receiver refused the shipment: \(cause)",
            hint: "ask the operator there to allow more (`ship-store receive --help`), or leave something out: "
                + "`ship-store send --help`")
        let stopped = try await receiver.stop()
        #expect(stopped.stderr.contains("\(cause)\n"))
        #expect(try desk.leftovers == [])
        let other = try await desk.listen(on: "127.0.0.1:0", into: "inbox", "--max-store", "\(size)")
        try await desk.run("send", "Recipes.sqlite", "--to", other.address).expectSuccess()
    }

    @Test func `external files have limits of their own`() async throws {
        let sample = try CoreDataSample(at: desk["Photos.sqlite"])
        for key in 1...3 { _ = try sample.addPhoto(key: key, content: Data("photo \(key)".utf8)) }
        try await desk.run("send", "Photos.sqlite", "--to", "photos.shipment", "-q").expectSuccess()
        let count = try await desk.run(
            "receive", "--into", "inbox", "--from", "photos.shipment", "--max-external-files", "2")
        count.expectFailure(
            73, "the store has 3 external files; at most 2 are allowed", hint: "allow more with --max-external-files")
        let size = try await desk.run(
            "receive", "--into", "inbox", "--from", "photos.shipment", "--max-external", "1")
        size.expectFailure(
            73, "the store's external files have 21 bytes; at most 1 are allowed",
            hint: "allow more with --max-external")
        try await desk.run(
            "receive", "--into", "inbox", "--from", "photos.shipment", "--max-external-files", "3"
        ).expectSuccess()
    }

    @Test func `what is to stay free on the disk stays free`() async throws {
        try await desk.run("send", "Recipes.sqlite", "--to", "recipes.shipment", "-q").expectSuccess()
        let refused = try await desk.run(
            "receive", "--into", "inbox", "--from", "recipes.shipment", "--keep-free", "9000000000G")
        #expect(refused.status == .exited(73))
        #expect(refused.stderr.contains("and the shipment needs 9000000000000012288, what is to stay free included\n"))
        #expect(try desk.leftovers == [])
    }

    @Test func `stores that a device brings at once are counted together`() async throws {
        let names = ["A", "B", "C", "D"].map { "\($0).sqlite" }
        for name in names { try desk.makeStore(name, rows: 3) }
        let (phone, watch) = (try await desk.id(of: "phone"), try await desk.id(of: "watch"))
        try await desk.run("trust", phone, "--identity", "watch", "-q").expectSuccess()
        try await desk.run("trust", watch, "--identity", "phone", "-q").expectSuccess()
        let receiver = try await desk.listen(
            on: "127.0.0.1:0", into: "inbox", "--identity", "watch", "--max-stores-per-device", "1",
            // Each is here as long as its probe runs.
            "--probe",
            "SELECT count(*) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT i FROM n)"
        )
        let statuses = try await withThrowingTaskGroup(of: ChildProgram.Outcome.self) { group in
            for name in names {
                group.addTask {
                    try await desk.run("send", name, "--to", receiver.address, "--identity", "phone", "-q")
                }
            }
            return try await group.reduce(into: [ChildProgram.Outcome]()) { $0.append($1) }
        }
        #expect(statuses.count { $0.status == .exited(0) } == 1)
        #expect(statuses.count { $0.status == .exited(73) } == 3, "\(statuses.map(\.stderr))")
        let listed = try await desk.run("list", "--into", "inbox", "--json").objects()
        let name = try #require(listed.first?["name"] as? String)
        #expect(listed.count == 1)
        // The places of those that were refused are free again, and the one that is there may come again.
        try TestStore.make(at: desk["\(name).sqlite"], sql: "INSERT INTO recipe(title) VALUES ('Cake')")
        try await desk.run("send", "\(name).sqlite", "--to", receiver.address, "--identity", "phone").expectSuccess()
        try await desk.run("forget", name, "--into", "inbox").expectSuccess()
        let other = try #require(names.first { $0 != "\(name).sqlite" })
        try await desk.run("send", other, "--to", receiver.address, "--identity", "phone").expectSuccess()
    }

    @Test func `the minimum rate is no number below 0`() async throws {
        let refused = try await desk.run("receive", "--into", "inbox", "--from", "recipes.shipment", "--min-rate=-1")
        #expect(refused.status == .exited(64))
        #expect(refused.stderr.contains("--min-rate takes a number from 0 on"))
    }
}
