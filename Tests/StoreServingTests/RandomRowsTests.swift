import Foundation
import GRDB
import ShipProtocol
import StoreFiles
import StoreServing
import SystemPackage
import TestSupport
import Testing

/// Changes that nobody chose, against what SQLite finds by its own comparison of the two stores.
@Suite struct RandomRowsTests {
    private static let seeds: ClosedRange<UInt64> = 1...(Soak.isOn ? 1500 : 25)
    private static let rounds = 6

    @Test func `what is told of rows at random is what SQLite finds`() async throws {
        var seen = Seen()
        for seed in Self.seeds {
            do {
                try await compare(seed, &seen)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        // Each kind of change and of answer was there.
        #expect(seen.inserted > 0 && seen.updated > 0 && seen.deleted > 0)
        #expect(seen.reasons.isSuperset(of: [.new, .gone, .declaration]))
        #expect(!seen.reasons.contains(.unknown))
    }

    private struct Seen {
        var (inserted, updated, deleted) = (0, 0, 0)
        var reasons: Set<RowChanges.Reason> = []
    }

    private func compare(_ seed: UInt64, _ seen: inout Seen) async throws {
        let scratch = try ScratchFolder()
        let inbox = try SampleInbox(keeping: 2, in: scratch)
        var tables = RandomTables(seed: seed)
        let live = scratch.path.appending("live.sqlite")
        let queue = try TestStore.open(live, preparation: tables.settings())
        var before: FilePath?
        let told = Told(try StoreCoordinator(inbox: inbox.root).changes(rows: true))
        for round in 0..<Self.rounds {
            let statements = tables.statements()
            let copy = scratch.path.appending("\(round).sqlite")
            try await queue.writeWithoutTransaction { database in
                for statement in statements { try database.execute(sql: statement) }
                try database.execute(sql: "VACUUM INTO ?", arguments: [copy.string])
            }
            try await inbox.install(fileAt: copy, SampleWords(metadata: ["round": "\(round)"]))
            let told = try await told.generation().difference.tables
            let comment: Comment = "seed \(seed), round \(round): \(statements)"
            let changes = try #require(told, comment)
            if let before { try expect(changes, before, copy, comment, &seen) }
            before = copy
        }
        try queue.close()
    }

    private func expect(
        _ changes: [GenerationDifference.TableChange], _ old: FilePath, _ new: FilePath, _ comment: Comment,
        _ seen: inout Seen
    ) throws {
        let truth = try Truth(old, new)
        for table in try truth.tables {
            let rows = changes.first { $0.name.unescaped == table }?.rows
            let expected = try truth.changes(of: table)
            switch rows {
            case nil:
                #expect(expected == .none, "\(table), \(comment)")
            case .table(let reason):
                #expect(expected == .table(reason), "\(table), \(comment)")
                seen.reasons.insert(reason)
            case .rows(let rows):
                let found = Truth.Changes.rows(
                    inserted: Set(rows.inserted.map(\.key)), updated: Set(rows.updated.map(\.key)),
                    deleted: Set(rows.deleted.map(\.key)))
                #expect(found == expected, "\(table), \(comment)")
                seen.inserted += rows.inserted.count
                seen.updated += rows.updated.count
                seen.deleted += rows.deleted.count
            }
        }
    }
}

/// What SQLite finds in two stores.
private struct Truth {
    enum Changes: Equatable {
        case none
        case table(RowChanges.Reason)
        case rows(inserted: Set<[DatabaseValue]>, updated: Set<[DatabaseValue]>, deleted: Set<[DatabaseValue]>)
    }

    private let queue: DatabaseQueue

    init(_ old: FilePath, _ new: FilePath) throws {
        queue = try DatabaseQueue(path: new.string)
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "ATTACH DATABASE ? AS old", arguments: [old.string])
        }
    }

    private func strings(_ sql: String, _ arguments: StatementArguments = []) throws -> [String] {
        try queue.read { try String.fetchAll($0, sql: sql, arguments: arguments) }
    }

    private func keys(_ sql: String) throws -> Set<[DatabaseValue]> {
        Set(try queue.read { try Row.fetchAll($0, sql: sql).map { Array($0.databaseValues) } })
    }

    /// Of both.
    var tables: [String] {
        get throws {
            try strings(
                """
                SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                UNION SELECT name FROM old.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                """)
        }
    }

    func changes(of table: String) throws -> Changes {
        let sql = "sqlite_schema WHERE type = 'table' AND name = ?"
        let before = try strings("SELECT sql FROM old.\(sql)", [table])
        let after = try strings("SELECT sql FROM main.\(sql)", [table])
        if before.isEmpty { return .table(.new) }
        if after.isEmpty { return .table(.gone) }
        let columns = try strings("SELECT name FROM pragma_table_info(?) ORDER BY cid", [table])
        // The whole of each value: an order of a column's own takes some for equal.
        let values = columns.map {
            "typeof(\($0)), CASE WHEN typeof(\($0)) IN ('text', 'blob') THEN hex(\($0)) ELSE quote(\($0)) END"
        }
        .joined(separator: ", ")
        if before != after { return .table(.declaration) }
        let isWithoutRowid = after[0].hasSuffix("WITHOUT ROWID")
        let key =
            try isWithoutRowid
            ? strings("SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk", [table]) : ["rowid"]
        let all = isWithoutRowid ? values : "rowid, \(values)"
        let differences = try ["old", "main"].map { side in
            let other = side == "old" ? "main" : "old"
            return try keys("SELECT \(all) FROM \(side).\(table) EXCEPT SELECT \(all) FROM \(other).\(table)")
        }
        if differences.allSatisfy(\.isEmpty) { return .none }
        let list = key.joined(separator: ", ")
        func except(_ side: String, _ other: String) throws -> Set<[DatabaseValue]> {
            try keys("SELECT \(list) FROM \(side).\(table) EXCEPT SELECT \(list) FROM \(other).\(table)")
        }
        let join = key.map { "n.\($0) = o.\($0)" }.joined(separator: " AND ")
        let isOther = columns.map { column in
            "typeof(n.\(column)) <> typeof(o.\(column)) OR hex(n.\(column)) <> hex(o.\(column)) OR quote(n.\(column)) <> quote(o.\(column))"
        }.joined(separator: " OR ")
        return .rows(
            inserted: try except("main", "old"),
            updated: try keys(
                """
                SELECT \(key.map { "n.\($0)" }.joined(separator: ", ")) FROM main.\(table) n JOIN old.\(table) o ON \(join)
                WHERE \(isOther)
                """),
            deleted: try except("old", "main"))
    }
}

/// Makes tables, and changes them, from a seed. No change leaves a row as it was.
private struct RandomTables {
    private var random: RepeatableRandom
    private var tables: [(name: String, keys: [String], values: [String], isWithoutRowid: Bool)] = []
    /// Beyond the values of rows that are inserted.
    private var count = 1_000_000

    init(seed: UInt64) { random = RepeatableRandom(seed: seed) }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }
    private mutating func one(of choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }

    mutating func settings() -> String {
        let encoding = one(of: ["UTF-8", "UTF-8", "UTF-8", "UTF-16le", "UTF-16be"])
        isUTF8 = encoding == "UTF-8"
        return """
            PRAGMA page_size = \(one(of: ["512", "1024", "4096"])); PRAGMA encoding = '\(encoding)';
            PRAGMA auto_vacuum = \(one(of: ["NONE", "FULL"]))
            """
    }

    private var isUTF8 = true

    /// Of one round.
    mutating func statements() -> [String] {
        var statements = tables.isEmpty ? (0...number(1...3)).flatMap { _ in create() } : []
        for _ in 0..<number(1...8) where !statements.isEmpty || !tables.isEmpty { statements += step() }
        return statements
    }

    private mutating func create() -> [String] {
        count += 1
        let name = "t\(count)"
        let values = (0...number(0...2)).map { "v\($0)" }
        let types = ["", "INTEGER", "TEXT", "REAL", "BLOB", "NUMERIC"]
        let columns = values.map { "\($0) \(one(of: types))" }.joined(separator: ", ")
        switch number(0...4) {
        case 0:
            tables.append((name, [], values, false))
            return ["CREATE TABLE \(name)(\(columns))"] + insert(tables.count - 1)
        case 1:
            tables.append((name, ["k0"], values, false))
            return ["CREATE TABLE \(name)(\(columns), k0 INTEGER PRIMARY KEY)"] + insert(tables.count - 1)
        case 2:
            // As Core Data has them.
            tables.append((name, ["Z_PK"], ["Z_ENT"] + values, false))
            return ["CREATE TABLE \(name)(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, \(columns))"]
                + insert(tables.count - 1)
        default:
            let keys = (0..<number(1...3)).map { "k\($0)" }
            let collations = isUTF8 ? ["", "", "COLLATE NOCASE", "COLLATE RTRIM"] : [""]
            let parts = keys.map { "\($0) \(one(of: ["", "DESC"]))" }.shuffled(using: &random)
            // The collation is the column's own, so that SQLite's comparison has it.
            let declared = keys.map { "\($0) \(one(of: types)) \(one(of: collations))" }.joined(separator: ", ")
            let sql =
                "CREATE TABLE \(name)(\(columns), \(declared), PRIMARY KEY(\(parts.joined(separator: ", ")))) WITHOUT ROWID"
            tables.append((name, keys, values, true))
            return [sql] + insert(tables.count - 1)
        }
    }

    private mutating func step() -> [String] {
        let table = number(0...(tables.count - 1))
        let name = tables[table].name
        switch number(0...19) {
        case 0: return create()
        case 1 where tables.count > 1:
            tables.remove(at: table)
            return ["DROP TABLE \(name)"]
        case 2:
            let column = "w\(tables[table].values.count)"
            tables[table].values.append(column)
            return ["ALTER TABLE \(name) ADD COLUMN \(column)\(one(of: ["", " DEFAULT 5"]))"]
        case 3: return ["VACUUM"]
        case 4: return ["CREATE INDEX IF NOT EXISTS i\(name) ON \(name)(\(tables[table].values[0]))"]
        case 5...9: return insert(table)
        case 10...14: return update(table)
        default: return ["DELETE FROM \(name) WHERE \(condition(table))"]
        }
    }

    /// Some of the rows, the same for one seed.
    private mutating func condition(_ table: Int) -> String {
        let place = "(SELECT count(*) FROM \(tables[table].name))"
        let key = tables[table].isWithoutRowid ? "length(quote(\(tables[table].keys[0])))" : "rowid"
        return number(0...9) == 0 ? "\(place) > 5" : "\(key) % \(number(2...9)) = \(number(0...1))"
    }

    private mutating func update(_ table: Int) -> [String] {
        let columns = tables[table].values
        let column = columns[number(0...(columns.count - 1))]
        count += 1
        if tables[table].isWithoutRowid, number(0...3) == 0 {
            // The same key in another case may be the same row.
            let key = tables[table].keys[0]
            return [
                "UPDATE OR IGNORE \(tables[table].name) SET \(key) = upper(\(key)) WHERE typeof(\(key)) = 'text' AND hex(\(key)) <> hex(upper(\(key)))"
            ]
        }
        let value = one(of: [
            "\(count)", "'x\(count)'", "\(count).5", "CAST('y\(count)' AS BLOB)", "zeroblob(\(count % 1000 + 3000))",
        ])
        return ["UPDATE \(tables[table].name) SET \(column) = \(value) WHERE \(condition(table))"]
    }

    private mutating func insert(_ table: Int) -> [String] {
        let (name, keys, values, isWithoutRowid) = tables[table]
        let rows = number(0...2) == 0 ? number(50...400) : number(1...10)
        var columns: [String] = []
        for _ in keys {
            columns.append(
                isWithoutRowid
                    ? [
                        "i", "'K' || i", "char(97 + i % 26) || i || '  '", "i / 2.0", "CAST('b' || i AS BLOB)",
                        "char(65 + i % 26)",
                        "char(65 + 32 * (i % 2) + i % 26) || i / 5",
                    ].randomElement(using: &random) ?? "i"
                    : "i * \(number(1...5))")
        }
        for _ in values {
            columns.append(
                one(of: ["NULL", "i", "0", "1", "'text ' || i", "i * 1.25", "zeroblob(i % 700)", "'ü' || i", "-i"]))
        }
        let start = number(1...1000)
        let names = (keys + values).joined(separator: ", ")
        return [
            """
            WITH RECURSIVE n(i) AS (SELECT \(start) UNION ALL SELECT i + 1 FROM n WHERE i < \(start + rows))
            INSERT OR IGNORE INTO \(name)(\(names)) SELECT \(columns.joined(separator: ", ")) FROM n
            """
        ]
    }
}
