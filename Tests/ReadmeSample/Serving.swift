import ShipStore
import ShipStoreNetwork

func serve(_ device: Device) async throws {
    var options = Producer.Options()
    options.trust = .trustedPeers(of: device)
    options.memory = .standard
    let producer = Producer("Recipes.sqlite", options: options)
    try await producer.listen(on: .tcp(host: "0.0.0.0", port: 7645), following: Following()) { print($0.event) }
}
