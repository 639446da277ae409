import GRDB
import ShipStore

func follow() async throws {
    let coordinator = StoreCoordinator(inbox: "inbox")
    let changes = try coordinator.changes()
    let count = try await coordinator.read("Recipes") { db in  // GRDB's Database, read-only
        try Int.fetchOne(db, sql: "SELECT count(*) FROM recipe")
    }
    let pin = try coordinator.pin("Recipes")  // several reads of one generation, and its external files
    print(count ?? 0, "recipes, and now generation", pin.generation.number)
    for await change in changes { print(change) }  // which tables have other rows, which files came and went
}
