import GRDB
import ShipStore
import ShipStoreNetwork

func shipAndRead() async throws {
    // On the phone.
    _ = try await Producer("Recipes.sqlite").send(to: Endpoint("watch:7645"))
    // On the watch: GRDB's Database, read-only, always of the newest generation.
    let count = try await StoreCoordinator(inbox: "inbox").read("Recipes") { db in
        try Int.fetchOne(db, sql: "SELECT count(*) FROM recipe")
    }
    print(count ?? 0, "recipes")
}
