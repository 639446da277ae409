import GRDB
import StoreFiles
import StoreOperations
import SystemPackage

/// The sample of the demo: a recipe app's store in WAL mode, with accounts whose balances always add up to the same, so
/// that a copy of half a transaction would show.
struct DemoStore: Sendable {
    static let recipes = 20_000
    static let accounts = 100
    /// The sum of all balances in every committed state.
    static let total = 100_000

    let path: FilePath

    func make() throws {
        try write { database in
            try database.execute(
                sql: """
                    CREATE TABLE recipe(id INTEGER PRIMARY KEY, title TEXT NOT NULL, steps TEXT NOT NULL, minutes INTEGER);
                    CREATE INDEX recipe_by_minutes ON recipe(minutes, title);
                    CREATE TABLE account(id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
                    """)
            for account in 1...Self.accounts {
                try database.execute(
                    sql: "INSERT INTO account VALUES (?, ?)", arguments: [account, Self.total / Self.accounts])
            }
        }
        try add(recipes: Self.recipes)
    }

    /// Adds recipes, in one transaction.
    func add(recipes count: Int) throws {
        let words = [
            "boil", "chop", "whisk", "roast", "basil", "leek", "barley", "lemon", "slowly", "until", "golden", "salt",
        ]
        var generator = SystemRandomNumberGenerator()
        let statement = "INSERT INTO recipe(title, steps, minutes) VALUES (?, ?, ?)"
        try write { database in
            for _ in 0..<count {
                let steps = (0..<24).map { _ in words.randomElement(using: &generator) ?? "salt" }
                try database.execute(
                    sql: statement,
                    arguments: [
                        steps.prefix(3).joined(separator: " "), steps.joined(separator: " "),
                        Int.random(in: 5...120, using: &generator),
                    ])
            }
        }
    }

    /// Moves money between accounts, a transaction at a time, until the task is cancelled.
    func transfer() async throws {
        let database = try open()
        while !Task.isCancelled {
            try await database.write { database in
                let (amount, from, to) = (Int.random(in: 1...9), Int.random(in: 1...100), Int.random(in: 1...100))
                try database.execute(
                    sql: "UPDATE account SET balance = balance - ? WHERE id = ?", arguments: [amount, from])
                try database.execute(
                    sql: "UPDATE account SET balance = balance + ? WHERE id = ?", arguments: [amount, to])
            }
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    /// In one transaction, and in WAL mode, which stays.
    private func write(_ body: (Database) throws -> Void) throws {
        try open().writeWithoutTransaction { database in
            try database.tellingRefusals(around: path) {
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                try database.inTransaction(.immediate) {
                    try body(database)
                    return .commit
                }
            }
        }
    }

    private func open() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        return try DatabaseQueue(path: path.databaseURI, configuration: configuration)
    }
}
