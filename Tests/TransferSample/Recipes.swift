import GRDB
import ShipStore

/// On the watch: the rows of the store's newest generation.
struct Recipes: Sendable {
    private let coordinator: StoreCoordinator

    init(in coordinator: StoreCoordinator) { self.coordinator = coordinator }

    /// Core Data keeps the attribute `name` of the entity `Recipe` in the column `ZNAME` of the table `ZRECIPE`.
    func names() async throws -> [String] {
        guard try !coordinator.stores.isEmpty else { return [] }  // nothing has come yet
        return try await coordinator.read { db in
            try String.fetchAll(db, sql: "SELECT ZNAME FROM ZRECIPE ORDER BY ZNAME")
        }
    }

    /// One element for each change, and one to begin with.
    func changes() throws -> AsyncStream<Void> {
        let changes = try coordinator.changes()
        return AsyncStream { continuation in
            let task = Task {
                continuation.yield()
                for await _ in changes { continuation.yield() }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
