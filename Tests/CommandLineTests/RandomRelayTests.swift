import Foundation
import SystemPackage
import TestSupport
import Testing

/// Random orders of shipping, passing on, going back and pruning: the last receiver holds nothing but a state that the store has had, and never
/// an older one than before.
@Suite(.serialized) struct RandomRelayTests {
    private enum Step {
        case change, shipInFile, shipOverTLS, shipUnsigned, pass, rollBack, release, prune, shipDirectly
    }

    /// How often each comes.
    private static let steps: [Step] = [
        .change, .change, .shipInFile, .shipInFile, .shipInFile, .shipOverTLS, .shipUnsigned, .pass, .pass, .pass,
        .pass,
        .rollBack, .rollBack, .release, .prune, .shipDirectly,
    ]

    @Test(arguments: UInt64(1)...(Soak.isOn ? 60 : 3))
    func `the last receiver never goes back`(seed: UInt64) async throws {
        var random = RepeatableRandom(seed: seed)
        let desk = try Desk()
        try desk.makeStore(rows: 30)
        var ids: [String: String] = [:]
        for device in ["phone", "tablet", "watch"] { ids[device] = try await desk.id(of: device) }
        func trust(_ device: String, by other: String, as role: String) async throws {
            try await desk.run("trust", ids[device] ?? "", "--identity", other, "--role", role, "--name", device, "-q")
                .expectSuccess()
        }
        try await trust("tablet", by: "phone", as: "receiver")
        try await desk.run("trust", ids["watch"] ?? "", "--identity", "phone", "--role", "receiver", "-q")
            .expectSuccess()
        try await trust("phone", by: "tablet", as: "sender")
        try await trust("watch", by: "tablet", as: "receiver")
        try await trust("phone", by: "watch", as: "sender")
        try await trust("tablet", by: "watch", as: "relay")
        let watch = try await desk.listen(into: "watch", "--identity", "watch")

        // Each state has one row more than the one before.
        var states = [30: try StoreContent(of: desk["Recipes.sqlite"])]
        var (rows, held) = (30, 0)
        var log: [String] = []
        for number in 0..<40 {
            let step = try #require(Self.steps.randomElement(using: &random))
            log.append("\(step)")
            switch step {
            case .change:
                rows += 1
                try desk.execute("INSERT INTO recipe(title) VALUES ('\(number)')", in: "Recipes.sqlite")
                states[rows] = try StoreContent(of: desk["Recipes.sqlite"])
            case .shipInFile:
                try await desk.run(
                    "send", "Recipes.sqlite", "--to", "./\(number).shipment", "--identity", "phone", "-q"
                )
                .expectSuccess()
                // It may be held, or rolled back.
                _ = try await desk.run(
                    "receive", "--into", "tablet", "--from", "./\(number).shipment", "--identity", "tablet", "-q")
            case .shipOverTLS, .shipUnsigned:
                let tablet = try await desk.listen(into: "tablet", "--identity", "tablet", "--relay")
                let signing = step == .shipOverTLS ? ["--relay"] : []
                _ = try await desk.run(
                    ["send", "Recipes.sqlite", "--to", tablet.address, "--identity", "phone", "-q"] + signing)
                _ = try await tablet.stop()
            case .pass:
                let before = try listing(of: desk["tablet"])
                let outcome = try await desk.run(
                    "send", "--inbox", "tablet", "--to", watch.address, "--identity", "tablet", "-q")
                #expect([0, 65, 66, 77].contains { outcome.status == .exited($0) }, "\(outcome.stderr)")
                #expect(try listing(of: desk["tablet"]) == before)
            case .rollBack: _ = try await desk.run("rollback", "Recipes", "--into", "tablet", "-q")
            case .release: _ = try await desk.run("rollback", "Recipes", "--into", "tablet", "--release", "-q")
            case .prune: _ = try await desk.run("prune", "--into", "tablet", "--keep", "1", "-q")
            case .shipDirectly:
                try await desk.run("send", "Recipes.sqlite", "--to", watch.address, "--identity", "phone", "-q")
                    .expectSuccess()
            }
            guard FileManager.default.fileExists(atPath: desk["watch"].appending("Recipes.sqlite").string) else {
                #expect(held == 0, "\(log)")
                continue
            }
            let content = try StoreContent(of: desk["watch"].appending("Recipes.sqlite"))
            let found = states.first { $0.value == content }?.key
            #expect(found != nil, "the watch holds what never was: \(log)")
            #expect(found ?? 0 >= held, "the watch went back: \(log)")
            held = found ?? held
        }
        // In the end what is new goes all the way.
        rows += 1
        try desk.execute("INSERT INTO recipe(title) VALUES ('last')", in: "Recipes.sqlite")
        _ = try await desk.run("rollback", "Recipes", "--into", "tablet", "--release", "-q")
        try await desk.run("send", "Recipes.sqlite", "--to", "./last.shipment", "--identity", "phone", "-q")
            .expectSuccess()
        try await desk.run("receive", "--into", "tablet", "--from", "./last.shipment", "--identity", "tablet", "-q")
            .expectSuccess()
        try await desk.run("send", "--inbox", "tablet", "--to", watch.address, "--identity", "tablet", "-q")
            .expectSuccess()
        #expect(try desk.hasInstalled("Recipes", in: "watch", from: "Recipes.sqlite"), "\(log)")
        _ = try await watch.stop()
        #expect(try desk.leftovers == [])
    }

    private func listing(of folder: FilePath) throws -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: folder.string)) ?? []).sorted()
    }
}
