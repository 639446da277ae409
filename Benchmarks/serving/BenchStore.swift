import GRDB
import ShipStore
import ShipStoreNetwork
import SystemPackage

/// A store to be read, and two shipments of it that differ, to be installed in turns.
struct BenchStore {
    static let name = "Journal"
    static let rows = 20_000

    let shipments: [FilePath]

    init(in folder: FilePath) throws {
        let path = folder.appending("\(Self.name).sqlite")
        let queue = try DatabaseQueue(path: path.string)
        try queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE entry(id INTEGER PRIMARY KEY, title TEXT, note TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.rows))
                    INSERT INTO entry(title, note) SELECT 'Day ' || i, hex(randomblob(40)) FROM n;
                    """)
        }
        try queue.close()
        shipments = (1...2).map { folder.appending("\($0).shipment") }
        source = path
    }

    private let source: FilePath

    func ship() async throws {
        for shipment in shipments {
            let queue = try DatabaseQueue(path: source.string)
            try await queue.write {
                try $0.execute(sql: "UPDATE entry SET note = hex(randomblob(40)) WHERE id % 100 = 0")
            }
            try queue.close()
            _ = try await Producer(source).send(to: .file(shipment))
        }
    }
}
