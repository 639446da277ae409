import DeviceTrust
import Foundation
import ShipProtocol
import ShipTransport
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// One shipment after the other that a tablet passes on.
@Suite(.serialized) struct RelayTests {
    private let devices: RelayDevices

    init() async throws { devices = try await RelayDevices() }

    @Test func `what came over TLS goes on, with its number, and one changed row as a few bytes`() async throws {
        let (first, second) = (try await devices.tabletListens(), try await devices.watchListens())
        try await devices.ship(to: first).expectSuccess()
        let whole = try await devices.pass(to: second).expectSuccess()
        #expect(try devices.desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        try devices.change()
        let direct = try await devices.ship(to: first).expectSuccess()
        let relayed = try await devices.pass(to: second).expectSuccess()
        #expect(try devices.desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        // The row, the manifest and the signature.
        let (wholeBytes, directBytes, bytes) = (
            try devices.wire(whole), try devices.wire(direct), try devices.wire(relayed)
        )
        #expect(bytes < 1500, "\(wholeBytes), \(directBytes) and \(bytes)")
        #expect(bytes < wholeBytes)
        // The number is the phone's, and the generation is known to have come by the tablet.
        #expect(try devices.counter(in: "watch-inbox") == devices.counter(in: "tablet-inbox"))
        let (origin, phoneDigest) = (try devices.origin(in: "watch-inbox"), try devices.digest(of: "phone"))
        let tabletDigest = try devices.digest(of: "tablet")
        #expect(origin["producer"] as? String == phoneDigest)
        #expect(origin["relay"] as? String == tabletDigest)
        // What the watch has already costs a few bytes.
        let again = try await devices.pass(to: second).expectSuccess()
        let unchanged = "unchanged: the receiver has Recipes already, as generation 2"
        #expect(again.stderr.contains(unchanged), "\(again.stderr)")
        _ = try await first.stop()
        _ = try await second.stop()
        #expect(try devices.desk.leftovers == [])
    }

    @Test func `what came in a signed file goes on`() async throws {
        let second = try await devices.watchListens()
        try await devices.desk.run("send", "Recipes.sqlite", "--to", "./1.shipment", "--identity", "phone")
            .expectSuccess()
        try devices.change()
        try await devices.desk.run(
            "send", "Recipes.sqlite", "--since", "1.shipment", "--to", "./2.shipment", "--identity", "phone"
        ).expectSuccess()
        for file in ["1", "2"] {
            try await devices.desk.run(
                "receive", "--into", "tablet-inbox", "--from", "./\(file).shipment", "--identity", "tablet"
            ).expectSuccess()
            // The second one says in what it is signed for what it was a delta over: that is of no meaning here.
            try await devices.pass(to: second).expectSuccess()
        }
        #expect(try devices.desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        // So does what came from a publication.
        try devices.change("published")
        try await devices.desk.run("send", "Recipes.sqlite", "--to", "dir:shelf", "--identity", "phone").expectSuccess()
        try await devices.desk.run("receive", "--into", "tablet-inbox", "--from", "dir:shelf", "--identity", "tablet")
            .expectSuccess()
        try await devices.pass(to: second).expectSuccess()
        #expect(try devices.desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        _ = try await second.stop()
        try await devices.desk.run("verify", "tablet-inbox").expectSuccess()
    }

    @Test func `what no device has signed stays where it is`() async throws {
        let (first, second) = (try await devices.tabletListens(), try await devices.watchListens())
        try await devices.ship(to: first, "--no-remember").expectSuccess()
        let refused = try await devices.pass(to: second)
        #expect(refused.status == .exited(65), "\(refused.stderr)")
        #expect(
            refused.complaints == [
                "ship-store: error: generation 1 of Recipes came without a signature of the device that made it, and others take "
                    + "it only with one",
                "ship-store: hint: ask for one here with `ship-store receive --relay`, of a sender with `ship-store send --relay`: "
                    + "the next change has it, or what comes after `ship-store forget Recipes --into INBOX`",
            ])
        try await devices.expectNothing(in: "watch-inbox")
        // The same state has one once it comes again.
        try await devices.desk.run("forget", "Recipes", "--into", "tablet-inbox", "-q").expectSuccess()
        try await devices.ship(to: first).expectSuccess()
        try await devices.pass(to: second).expectSuccess()
        // So has the next change.
        try devices.change()
        try await devices.ship(to: first).expectSuccess()
        try await devices.pass(to: second).expectSuccess()
        _ = try await first.stop()
        _ = try await second.stop()
    }

    @Test func `who passes on may not send, and nothing goes on of a device that is not trusted`() async throws {
        let (first, second) = (try await devices.tabletListens(), try await devices.watchListens())
        // A relay's own store.
        let own = try await devices.desk.run("send", "Recipes.sqlite", "--to", second.address, "--identity", "tablet")
        #expect(own.status == .exited(77))
        #expect(own.stderr.contains("the sender may not send Recipes here"), "\(own.stderr)")
        try await devices.ship(to: first).expectSuccess()
        // A device that may only be shipped to is not even let in.
        try await devices.trust(devices.tablet, by: "watch", as: "receiver", notAs: "relay")
        #expect(try await devices.pass(to: second).status == .exited(77))
        try await devices.trust(devices.tablet, by: "watch", as: "relay")
        try await devices.desk.run("distrust", devices.phone, "--identity", "watch", "-q").expectSuccess()
        let refused = try await devices.pass(to: second)
        #expect(refused.status == .exited(77))
        #expect(refused.stderr.contains("the device that signed this shipment is not trusted to send"))
        try await devices.desk.run(
            "trust", devices.phone, "--identity", "watch", "--role", "sender", "--only-store", "Tea", "-q"
        )
        .expectSuccess()
        #expect(try await devices.pass(to: second).status == .exited(77))
        try await devices.expectNothing(in: "watch-inbox")
        try await devices.desk.run("trust", devices.phone, "--identity", "watch", "--all-stores", "-q").expectSuccess()
        // The relay is let do so for some stores alone.
        try await devices.desk.run("trust", devices.tablet, "--identity", "watch", "--only-store", "Tea", "-q")
            .expectSuccess()
        let forOthers = try await devices.pass(to: second)
        #expect(forOthers.stderr.contains("the device at the other end may not pass on Recipes here"))
        #expect(forOthers.status == .exited(77))
        try await devices.desk.run("trust", devices.tablet, "--identity", "watch", "--all-stores", "-q").expectSuccess()
        try await devices.pass(to: second).expectSuccess()
        _ = try await first.stop()
        _ = try await second.stop()
    }

    @Test func `a sender may pass on, too, and a copy never goes back`() async throws {
        try await devices.trust(devices.tablet, by: "watch", as: "sender", notAs: "relay")
        let (first, second) = (try await devices.tabletListens(), try await devices.watchListens())
        try await devices.ship(to: first).expectSuccess()
        try await devices.pass(to: second).expectSuccess()
        try devices.change()
        try await devices.ship(to: first).expectSuccess()
        try await devices.pass(to: second).expectSuccess()
        _ = try await first.stop()
        try await devices.desk.run("rollback", "Recipes", "--into", "tablet-inbox", "-q").expectSuccess()
        let old = try await devices.pass(to: second)
        #expect(old.status == .exited(77))
        #expect(old.stderr.contains("has come already"), "\(old.stderr)")
        #expect(try devices.desk.hasInstalled("Recipes", in: "watch-inbox", from: "Recipes.sqlite"))
        // What is there is newer, so that nothing has failed.
        try await devices.desk.run("status", "--into", "watch-inbox").expectSuccess()
        // Who takes a store over is named, also with the same content.
        try await devices.desk.run("trust", devices.tablet, "--identity", "watch", "--takes-over", "Recipes", "-q")
            .expectSuccess()
        try await devices.desk.run("send", "Recipes.sqlite", "--to", second.address, "--identity", "tablet")
            .expectSuccess()
        let (maker, tabletDigest) = (
            try devices.origin(in: "watch-inbox")["producer"] as? String, try devices.digest(of: "tablet")
        )
        #expect(maker == tabletDigest)
        // The watch's own store of that name, from another device, is not replaced either.
        _ = try await second.stop()
    }

    @Test func `external files go on, and only those that are new`() async throws {
        let sample = try CoreDataSample(at: devices.desk["Notes.sqlite"])
        let photos = (0..<2).map { _ in Data((0..<200_000).map { _ in UInt8.random(in: 0...255) }) }
        try sample.addPhoto(key: 1, content: photos[0])
        let (first, second) = (try await devices.tabletListens(), try await devices.watchListens())
        func goOn() async throws -> Int {
            try await devices.desk.run(
                "send", "Notes.sqlite", "--to", first.address, "--identity", "phone", "--relay", "-q"
            ).expectSuccess()
            let outcome = try await devices.desk.run(
                "send", "--inbox", "tablet-inbox", "Notes", "--to", second.address, "--identity", "tablet", "--json")
            outcome.expectSuccess()
            return try devices.wire(outcome)
        }
        #expect(try await goOn() > 200_000)
        try sample.addPhoto(key: 2, content: photos[1])
        // The first one does not go again.
        let bytes = try await goOn()
        #expect(bytes > 200_000 && bytes < 250_000, "\(bytes)")
        for (inbox, photo) in [("tablet-inbox", 1), ("watch-inbox", 1), ("watch-inbox", 0)] {
            let folder = devices.desk[inbox].appending(".Notes_SUPPORT").appending("_EXTERNAL_DATA")
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.string)
            let contents = try files.map { try Data(contentsOf: URL(filePath: folder.appending($0).string)) }
            #expect(contents.contains(photos[photo]), "\(inbox)")
        }
        _ = try await first.stop()
        _ = try await second.stop()
    }
}
