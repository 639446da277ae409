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

    @Test func `the minimum rate is no number below 0`() async throws {
        let refused = try await desk.run("receive", "--into", "inbox", "--from", "recipes.shipment", "--min-rate=-1")
        #expect(refused.status == .exited(64))
        #expect(refused.stderr.contains("--min-rate takes a number from 0 on"))
    }
}
