import RandomValues

/// A store, and how its values came about, so that others like them can be made.
struct StorePlan {
    private(set) var store: RandomStore
    private var tables: [TablePlan] = []
    private let isOfCoreData: Bool

    init(_ choices: Choices, seed: UInt64) {
        store = RandomStore(tables: [])
        store.pageSize = choices.pick([512, 1024, 4096, 4096, 4096, 8192, 65_536])
        store.encoding = choices.pick(["UTF-8", "UTF-8", "UTF-8", "UTF-8", "UTF-16le", "UTF-16be"])
        store.autoVacuum = choices.pick(["NONE", "NONE", "NONE", "FULL", "INCREMENTAL"])
        // SQLite wants 480 bytes of each page.
        if choices.chance(5) { store.reservedBytes = choices.pick(store.pageSize == 512 ? [8, 32] : [8, 32, 255]) }
        if choices.chance(8) { store.schemaFormat = choices.number(in: 1...3) }
        isOfCoreData = choices.chance(8)
        var room = choices.pick([4_000, 20_000, 20_000, 60_000, 60_000, 200_000])
        if choices.chance(3) { room *= 8 }
        let most = choices.chance(3) ? choices.number(in: 100...2000) : 1 + choices.length(upTo: 12)
        for number in 0..<most where room > 0 {
            let plan = TablePlan(
                number, choices, seed: seed &* 2_003 &+ UInt64(number),
                room: most > 50 ? room / most : choices.chance(30) ? room : room / 3, isOfCoreData: isOfCoreData)
            room -= plan.size + (most > 50 ? 0 : 200)
            tables.append(plan)
        }
        store.tables = tables.map(\.table)
        if store.encoding != "UTF-8" { for table in store.tables.indices { store.tables[table].keepToUTF16() } }
        if isOfCoreData {
            store.more += CoreDataShape.statements(choices)
            store.files = CoreDataShape.files(of: store.tables, choices)
        }
        addMore(choices)
        addAlike(Choices(seed: ~seed))
    }

    /// A table whose texts the collation of its index orders otherwise than by all of their bytes. SQLite's order of them is not the one
    /// that a decoder derives, so such an index has to be sent.
    private mutating func addAlike(_ choices: Choices) {
        guard isAny(choices, 20) else { return }
        let make = ValueKind.alike.begin(choices)
        let rows = (0...choices.below(60)).map { "(\(make(choices, .init(row: $0)).sql))" }
        store.more += [
            "CREATE TABLE alike (a TEXT)", "INSERT INTO alike VALUES \(rows.joined(separator: ", "))",
            "CREATE INDEX i_alike ON alike (a COLLATE \(choices.pick(["NOCASE", "NOCASE", "RTRIM"])))",
        ]
    }

    private mutating func addMore(_ choices: Choices) {
        if isAny(choices, 20) { store.more.append("PRAGMA user_version = \(choices.integer() >> 33)") }
        if isAny(choices, 10) { store.more.append("ANALYZE") }
        guard let table = store.tables.first(where: \.key.hasRowid) else { return }
        let (name, column) = (table.name.quoted, table.columns.first { !$0.isGenerated }?.name.quoted ?? "rowid")
        if isAny(choices, 10) { store.more.append("CREATE VIEW \"view\" AS SELECT \(column) FROM \(name)") }
        if isAny(choices, 10) {
            store.more.append("CREATE TRIGGER gone AFTER DELETE ON \(name) BEGIN SELECT 1; END")
        }
        if isAny(choices, 8) {
            let module = choices.pick([
                "fts5(body)", "fts5(body, prefix = '1 3')", "fts5(body, content='')", "fts5(body, tokenize = 'porter')",
                "fts5(body, tokenize = \"unicode61 remove_diacritics 0 tokenchars '-_'\")", "fts4(body)",
            ])
            store.more.append("CREATE VIRTUAL TABLE found USING \(module)")
            store.more.append(
                "INSERT INTO found(rowid, body) SELECT rowid, \(column) FROM \(name) WHERE rowid > 0 LIMIT 400")
            if isAny(choices, 30) { store.more.append("DELETE FROM found WHERE rowid % 7 = 3") }
            if isAny(choices, 50) { store.more.append("INSERT INTO found(found) VALUES ('optimize')") }
        }
        if isAny(choices, 5) {
            store.more.append("CREATE VIRTUAL TABLE area USING rtree(id, x0, x1, y0, y1)")
            store.more.append(
                "INSERT INTO area SELECT rowid, rowid % 17, rowid % 17 + 3, rowid % 29, rowid % 29 + 1 FROM \(name) WHERE rowid > 0 LIMIT 400"
            )
        }
    }

    private func isAny(_ choices: Choices, _ percent: Int) -> Bool { choices.chance(percent) }

    /// What may be done to it.
    func steps(_ choices: Choices) -> [RandomStep] {
        guard isOfCoreData else { return changes(choices) }
        return choices.chance(10)
            ? CoreDataShape.change(choices) : CoreDataShape.withFiles(changes(choices), choices)
    }

    private func changes(_ choices: Choices) -> [RandomStep] {
        guard !tables.isEmpty else { return [] }
        let plan = choices.pick(tables)
        let (table, name) = (plan.table, plan.table.name.quoted)
        let column = choices.pick(table.columns).name.quoted
        let number = "\(choices.below(1000))"
        let key = table.key == .text ? "length(k)" : table.key.name
        let some = "WHERE \(key) % \(choices.pick([2, 9, 50])) = 0"
        switch choices.below(26) {
        case 0...5: return plan.edits(choices)
        case 6...8: return plan.insertions(choices)
        case 9: return [.statements("UPDATE \(name) SET \(column) = \(column) + 1 \(some)")]
        case 10: return [.statements("UPDATE \(name) SET \(column) = \(column) || 'more'")]
        case 11: return [.statements("UPDATE \(name) SET \(column) = 77 \(some)")]
        case 12, 13: return [.statements("DELETE FROM \(name) \(some)")]
        case 14: return [.statements("DELETE FROM \(name)")]
        case 15: return [.statements("ALTER TABLE \(name) ADD COLUMN more\(number) DEFAULT \(number)")]
        case 16: return [.statements("ALTER TABLE \(name) DROP COLUMN \(column)")]
        case 17: return [.statements("ALTER TABLE \(name) RENAME COLUMN \(column) TO renamed\(number)")]
        case 18: return [.statements("ALTER TABLE \(name) RENAME TO renamed\(number)")]
        case 19: return [.statements("CREATE INDEX more\(number) ON \(name)(\(column))")]
        case 20: return [.statements("CREATE TABLE copy\(number) AS SELECT * FROM \(name)")]
        case 21: return [.statements("DROP TABLE \(name)")]
        case 22: return [.statements("PRAGMA page_size = \(choices.pick([512, 2048, 4096])); VACUUM")]
        case 23: return [.statements("PRAGMA auto_vacuum = \(choices.pick(["NONE", "FULL"])); VACUUM")]
        case 24: return [.statements("PRAGMA user_version = \(number)")]
        default:
            guard table.key != .text else { return [] }
            // All rows move, or some to the front of the others, which stay.
            let change = choices.chance(50) ? "\(key) + 1000001" : "-\(key) \(some)"
            return [.statements("UPDATE \(name) SET \(key) = \(change)")]
        }
    }
}
