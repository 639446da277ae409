import GRDB
import ShipStore
import SystemPackage

/// What a reader of the inbox sees.
struct DemoReading: Hashable, Sendable {
    let recipes: Int
    let balance: Int

    init(of store: Pin) async throws {
        (recipes, balance) = try await store.read { database in
            (
                try Int.fetchOne(database, sql: "SELECT count(*) FROM recipe") ?? 0,
                try Int.fetchOne(database, sql: "SELECT sum(balance) FROM account") ?? 0
            )
        }
    }

    /// Whether it is a committed state.
    var isConsistent: Bool { balance == DemoStore.total }
}
