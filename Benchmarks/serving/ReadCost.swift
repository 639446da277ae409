import GRDB
import ShipStore
import ShipStoreNetwork
import SystemPackage

/// The same read through the coordinator and through a bare `DatabaseQueue` on the installed file, in turns.
struct ReadCost {
    struct Figures: Encodable {
        let read: String
        /// Of one read, in microseconds: medians.
        let coordinator: Double
        let bareQueue: Double
        /// The median of the ratios, turn by turn.
        let ratio: Double
    }

    private let store: BenchStore
    private let folder: FilePath
    private static let turns = 41

    init(of store: BenchStore, in folder: FilePath) {
        self.store = store
        self.folder = folder
    }

    func measure() async throws -> [Figures] {
        try await store.ship()
        let inbox = folder.appending("inbox-of-reads")
        _ = try await Consumer(inbox: inbox).receive(from: .file(store.shipments[0]))
        return try [
            measure("one row by its key", in: inbox, count: 3000) { database in
                try String.fetchOne(database, sql: "SELECT title FROM entry WHERE id = 777")?.count ?? 0
            },
            measure("a thousand rows", in: inbox, count: 100) { database in
                try Row.fetchAll(database, sql: "SELECT * FROM entry LIMIT 1000").count
            },
            measure("all rows counted by their text", in: inbox, count: 20) { database in
                try Int.fetchOne(database, sql: "SELECT count(*) FROM entry WHERE note LIKE 'A%'") ?? 0
            },
        ]
    }

    private func measure(
        _ name: String, in inbox: FilePath, count: Int, _ read: (Database) throws -> Int
    ) throws -> Figures {
        let coordinator = StoreCoordinator(inbox: inbox)
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(
            path: inbox.appending("\(BenchStore.name).sqlite").string, configuration: configuration)
        var (ours, bare): ([Double], [Double]) = ([], [])
        for turn in 0..<Self.turns {
            let first = turn % 2 == 0
            if first { ours.append(try time(count) { try coordinator.read(.only, read) }) }
            bare.append(try time(count) { try queue.read(read) })
            if !first { ours.append(try time(count) { try coordinator.read(.only, read) }) }
        }
        return Figures(
            read: name, coordinator: ours.quantile(0.5) ?? 0, bareQueue: bare.quantile(0.5) ?? 0,
            ratio: zip(ours, bare).map { $0 / $1 }.quantile(0.5) ?? 0)
    }

    /// Microseconds a read.
    private func time(_ count: Int, _ read: () throws -> Int) throws -> Double {
        let start = ContinuousClock.now
        for _ in 0..<count { _ = try read() }
        return (ContinuousClock.now - start) / .microseconds(1) / Double(count)
    }
}
