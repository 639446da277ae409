import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

/// What `inspect` says that shipping takes, beside what it takes. `Benchmarks/estimates.py` does the same for any stores.
@Suite struct EstimateTests {
    private let desk: Desk

    init() throws { desk = try Desk() }

    enum Kind: String, CaseIterable { case tiny, manyTables, texts, random, large, pictures }

    private func make(_ kind: Kind) throws {
        let path = desk["Store.sqlite"]
        func rows(_ count: Int) -> String {
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
        }
        switch kind {
        case .tiny: try TestStore.make(at: path, sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)")
        case .manyTables:
            // Small ones, which share a segment.
            let tables = (1...60).map { number in
                """
                CREATE TABLE entity\(number)(id INTEGER PRIMARY KEY, name TEXT, parent INTEGER, at REAL);
                CREATE INDEX entity\(number)_by_name ON entity\(number)(name);
                \(rows(40)) INSERT INTO entity\(number) SELECT i, 'row ' || i || ' of ' || \(number), i / 3, i * 1.5 FROM n;
                """
            }
            try TestStore.make(at: path, sql: tables.joined())
        case .texts:
            try TestStore.make(
                at: path,
                sql: """
                    CREATE TABLE note(id INTEGER PRIMARY KEY, title TEXT, body TEXT);
                    \(rows(4000)) INSERT INTO note
                    SELECT i, 'Note ' || i, printf('On day %d of week %d we met %d people.', i, i / 7, i % 13) FROM n;
                    """)
        case .random:
            try TestStore.make(
                at: path, sql: "CREATE TABLE t(a BLOB); \(rows(300)) INSERT INTO t SELECT randomblob(3000) FROM n;")
        case .large:
            // More than is encoded as a whole: half of its segments have to stand for the others.
            try TestStore.make(
                at: path,
                sql: """
                    CREATE TABLE sample(id INTEGER PRIMARY KEY, at INTEGER, value REAL, text TEXT, noise BLOB);
                    \(rows(260_000)) INSERT INTO sample
                    SELECT i, 1700000000 + i * 17, sin(i), 'sample number ' || (i * 7919 % 100003), randomblob(100) FROM n;
                    """)
        case .pictures:
            let sample = try CoreDataSample(at: path, journalMode: "DELETE")
            for key in 1...20 {
                let content = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* key >> (key % 5)) }
                try sample.addPhoto(key: key, content: Data(content))
            }
        }
    }

    @Test(arguments: Kind.allCases, ["auto", "6"])
    func `inspect says what send takes, to within a tenth`(kind: Kind, level: String) async throws {
        // At its highest effort a large one takes long.
        if kind == .large, level == "auto", !Soak.isOn { return }
        try make(kind)
        let inspected = try await desk.run(
            "inspect", "Store.sqlite", "--level", level, "--json", timeout: .seconds(300))
        let object = try #require(try inspected.objects().first)
        try await desk.run(
            "send", "Store.sqlite", "--to", "./one.shipment", "--level", level, "-q", timeout: .seconds(300)
        ).expectSuccess()
        let size = Double(try PlatformCalls.status(of: desk["one.shipment"]).size)
        let cost = Double(try #require(object["cost"] as? Int))
        #expect(abs(cost / size - 1) < 0.1, "\(kind) at \(level): \(cost) for \(size)")
        // The tables and the files are what there is beside the manifest.
        let each = try #require(object["tables"] as? [[String: Any]])
        let tables = each.reduce(0) { $0 + ($1["cost"] as? Int ?? 0) }
        let external = try #require(object["externalCost"] as? Int)
        // It has a digest of each table, which nothing makes smaller than its 16 bytes.
        #expect(
            abs(Double(tables + external) - cost) < Double(1500 + 16 * each.count) + cost / 50,
            "\(tables) and \(external) of \(cost)")
        if kind != .tiny { #expect((external > 0) == (kind == .pictures)) }
        #expect(try desk.leftovers == [])
    }

    @Test func `all of it is said, and of a shipment the size of its file`() async throws {
        try make(.pictures)
        try await desk.run("send", "Store.sqlite", "--to", "./one.shipment", "-q").expectSuccess()
        let size = try PlatformCalls.status(of: desk["one.shipment"]).size
        let shipment = try #require(try await desk.run("inspect", "one.shipment", "--json").objects().first)
        #expect(shipment["fileSize"] as? Int64 == size)
        let text = try await desk.run("inspect", "one.shipment")
        #expect(text.lines.contains { $0.hasPrefix("  the file has ") && ($0.hasSuffix("kB") || $0.hasSuffix(" B")) })
        #expect(text.lines.last?.hasPrefix("  (all) ") == true)
        #expect(text.lines.contains { $0.hasPrefix("  (external files) ") && $0.contains("  20  ") })
        let store = try #require(try await desk.run("inspect", "Store.sqlite", "--json").objects().first)
        #expect(store["fileSize"] == nil)
    }
}
