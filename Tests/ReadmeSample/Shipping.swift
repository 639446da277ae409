import GRDB
import ShipStore
import ShipStoreNetwork

func ship() async throws {
    let deliveries = try await Producer("Recipes.sqlite").send(to: Endpoint("127.0.0.1:7645"))

    let consumer = try Consumer(inbox: "inbox")
    for receipt in try await consumer.receive(from: Endpoint("monday.shipment")) {
        let titles = try await consumer.coordinator.read(.named(receipt.name)) { db in
            try String.fetchAll(db, sql: "SELECT title FROM recipe")
        }
        print(titles)
    }

    let copy = try await LocalStore("Recipes.sqlite").keepCopy(in: KeptCopies(in: "kept"))
    let restoration = try await LocalStore("Recipes.sqlite").restore(from: copy.path)
    print(deliveries.map(\.bytesSent), restoration.store)
}
