import ShipStore

func startReceiving(into inbox: FilePath) async throws -> Consumer {
    let consumer = try Consumer(inbox: inbox)
    do {
        try await consumer.adopt("Recipes.base.sqlite", as: "Recipes")
    } catch ShipmentError.install(.hasGenerations) {
        // Shipments have come since: they are newer than the bundle.
    }
    return consumer
}
