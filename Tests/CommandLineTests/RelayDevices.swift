import DeviceTrust
import Foundation
import ShipProtocol
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// A phone ships to a tablet, and the tablet passes on to a watch, which trusts the phone for the store, and the tablet with the delivery.
struct RelayDevices {
    let desk: Desk
    /// Their ids.
    let phone, tablet, watch: String

    init() async throws {
        desk = try Desk()
        try desk.makeStore(rows: 500)
        (phone, tablet) = (try await desk.id(of: "phone"), try await desk.id(of: "tablet"))
        watch = try await desk.id(of: "watch")
        try await trust(tablet, by: "phone", as: "receiver")
        try await trust(phone, by: "tablet", as: "sender")
        try await trust(watch, by: "tablet", as: "receiver")
        try await trust(phone, by: "watch", as: "sender")
        try await trust(tablet, by: "watch", as: "relay")
    }

    func trust(
        _ id: String, by device: String, as role: String, notAs former: String? = nil
    ) async throws {
        try await desk.run(
            ["trust", id, "--identity", device, "--role", role, "-q"] + (former.map { ["--no-role", $0] } ?? [])
        ).expectSuccess()
    }

    func change(_ title: String = "new") throws {
        try desk.execute("INSERT INTO recipe(title) VALUES ('\(title)')", in: "Recipes.sqlite")
    }

    /// Brings the store to the tablet, signed for others.
    func ship(to receiver: Receiver, _ options: String...) async throws -> ChildProgram.Outcome {
        try await desk.run(
            ["send", "Recipes.sqlite", "--to", receiver.address, "--identity", "phone", "--json"]
                + (options.isEmpty ? ["--relay"] : options))
    }

    /// Passes on what the tablet has.
    func pass(to receiver: Receiver, as device: String = "tablet") async throws -> ChildProgram.Outcome {
        try await desk.run(
            "send", "--inbox", "tablet-inbox", "Recipes", "--to", receiver.address, "--identity", device, "--json")
    }

    func tabletListens() async throws -> Receiver {
        try await desk.listen(into: "tablet-inbox", "--identity", "tablet", "--relay")
    }

    func watchListens() async throws -> Receiver {
        try await desk.listen(into: "watch-inbox", "--identity", "watch")
    }

    func wire(_ outcome: ChildProgram.Outcome) throws -> Int {
        try #require(try outcome.events().last { $0["event"] as? String == "finished" }?["wire"] as? Int)
    }

    // MARK: What is in an inbox

    func expectNothing(in inbox: String) async throws {
        #expect(!FileManager.default.fileExists(atPath: desk[inbox].appending("Recipes.sqlite").string))
    }

    func current(in inbox: String) -> FilePath { desk["\(inbox)/.ship-store/Recipes/current"] }

    func object(_ path: FilePath) throws -> [String: Any] {
        let data = try Data(contentsOf: URL(fileURLWithPath: path.string))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    func origin(in inbox: String) throws -> [String: Any] {
        try object(current(in: inbox).appending("origin.json"))
    }

    func counter(in inbox: String) throws -> Int? {
        try object(current(in: inbox).appending("manifest.json"))["counter"] as? Int
    }

    func digest(of device: String) throws -> String {
        ContentDigest(sha256: try DeviceFolder(at: desk[device]).identity().id.bytes).hex
    }
}
