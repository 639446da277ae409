import RandomValues

/// A table, and how its values came about.
struct TablePlan {
    private(set) var table: RandomTable
    private let seed: UInt64
    /// By column; `nil` for a generated one.
    private var makings: [ValueKind.Making?] = []
    /// Bytes of its values, about.
    private(set) var size = 0

    /// - Parameter room: Bytes that its values may take, about.
    init(_ number: Int, _ choices: Choices, seed: UInt64, room: Int, isOfCoreData: Bool) {
        self.seed = seed
        table = RandomTable(named: Self.name(number, choices, isOfCoreData: isOfCoreData))
        table.key =
            isOfCoreData
            ? .entity
            : choices.chance(70)
                ? choices.pick([.rowid, .alias, .autoincrement]) : choices.pick(RandomTable.Key.allCases)
        addColumns(choices, room: room, isOfCoreData: isOfCoreData)
        addRows(choices, room: room)
        if choices.chance(8), table.columns.count > 1, !table.columns.contains(where: \.isGenerated) {
            table.added = choices.number(in: 1...(table.columns.count - 1))
        }
        if choices.chance(6) { loosen(choices) } else { addIndexes(number, choices) }
    }

    /// Such records are of a table with rowids and without indexes, whose entries would have to fit them.
    private mutating func loosen(_ choices: Choices) {
        guard table.key.hasRowid, table.added == 0, !table.columns.contains(where: \.isGenerated) else { return }
        table.looseness = choices.bits()
    }

    private static func name(_ number: Int, _ choices: Choices, isOfCoreData: Bool) -> String {
        if isOfCoreData {
            let names = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
            return number < names.count ? names[number] : "ZENTITY\(number)"
        }
        guard choices.chance(6) else { return "t\(number)" }
        return choices.pick([
            "with space \(number)", "quote\"d\(number)", "Größe\(number)", "select \(number)",
            String(repeating: "long", count: 75) + "\(number)", "semi;colon\(number)",
            number == 0 ? "" : " \(number)",
        ])
    }

    private mutating func addColumns(_ choices: Choices, room: Int, isOfCoreData: Bool) {
        let count = choices.chance(3) ? choices.number(in: 30...300) : 1 + choices.length(upTo: 14)
        // Most tables have values of a few kinds only.
        let few = (0...choices.below(6)).map { _ in choices.pick(ValueKind.all) }
        // Apps often keep archived objects beside a title.
        let isArchive = !isOfCoreData && choices.chance(25)
        if isArchive { table.key = .rowid }
        for number in 0..<(room < 500 ? min(count, 3) : isArchive ? max(count, 2) : count) {
            var kind = choices.chance(70) ? choices.pick(few) : choices.pick(ValueKind.all)
            if choices.chance(12) {
                kind = kind.mixed(with: choices.pick(ValueKind.all), every: choices.pick([2, 10, 50]))
            }
            if choices.chance(12), let none = ValueKind.all.first(where: { $0.name == "nothing" }) {
                kind = kind.mixed(with: none, every: choices.pick([2, 3, 20]))
            }
            if isArchive, number < 2 { kind = choices.pick(number == 0 ? ValueKind.texts : ValueKind.lists) }
            let name = isOfCoreData ? "ZCOLUMN\(number)" : choices.chance(3) ? "Größe \(number)" : "c\(number)"
            if choices.chance(2), let first = table.columns.first {
                // The JSON functions are those that some versions of SQLite let no schema from elsewhere call.
                let (isStored, function) = (choices.chance(50), choices.pick(["length", "json_valid"]))
                table.columns.append(
                    .init(
                        name: name,
                        declaration:
                            "INTEGER AS (\(function)(\(first.name.quoted))) \(isStored ? "STORED" : "VIRTUAL")",
                        cells: []))
                makings.append(nil)
                continue
            }
            var declaration =
                choices.chance(80) ? kind.declaration : choices.pick(["", "INTEGER", "TEXT", "NUMERIC", "BLOB"])
            if choices.chance(3) { declaration += " COLLATE NOCASE" }
            if choices.chance(3) { declaration += " REFERENCES t0" }
            table.columns.append(.init(name: name, declaration: declaration, cells: []))
            makings.append(kind.begin(Choices(seed: seed &* 31 &+ UInt64(number))))
        }
    }

    private mutating func addRows(_ choices: Choices, room: Int) {
        let most = choices.length(upTo: choices.chance(20) ? 50_000 : 2_000)
        table.keys = Self.keys(most, choices)
        for row in table.keys.indices {
            guard size < room || row == 0 else {
                table.keys.removeSubrange(row...)
                return
            }
            append(cells(ofRow: row))
        }
    }

    private mutating func append(_ cells: [Cell?]) {
        for (column, cell) in cells.enumerated() {
            guard let cell else { continue }
            size += cell.size + 2
            table.columns[column].cells.append(cell)
        }
    }

    private static func keys(_ count: Int, _ choices: Choices) -> [Int64] {
        let numbers = (0..<Int64(count))
        switch choices.below(10) {
        case 0: return numbers.map { $0 * 7 - 1000 }
        case 1: return numbers.reversed().map { $0 + 1 }
        case 2: return numbers.map { .max - Int64(count) + $0 - 2_000_000 }
        case 3: return numbers.map { .min + $0 * 3 }
        case 4:
            var given: Set<Int64> = []
            return numbers.compactMap { _ in
                let key = choices.integer() & ~(1 << 62)
                return given.insert(key).inserted ? key : nil
            }
        case 5: return numbers.map { $0 / 20 * 1000 + $0 % 20 }
        default: return numbers.map { $0 + 1 }
        }
    }

    /// - Parameter edited: The column of the value that is to be a little different.
    private func cells(ofRow row: Int, edited: Int? = nil) -> [Cell?] {
        var earlier: [Cell] = []
        return makings.enumerated().map { column, making in
            let choices = Choices(seed: (seed &* 65_537 &+ UInt64(column)) &* 1_000_003 &+ UInt64(row))
            let cell = making.map { $0(choices, .init(row: row, earlier: earlier, isEdited: column == edited)) }
            if let cell { earlier.append(cell) }
            return cell
        }
    }

    private mutating func addIndexes(_ number: Int, _ choices: Choices) {
        let count = choices.chance(1) ? 70 : choices.pick([0, 0, 1, 1, 2, 3])
        for index in 0..<count {
            var columns: [String] = []
            let changes = (0...choices.below(3)).map { _ in
                let column = choices.pick(table.columns).name
                columns.append(column)
                var term =
                    choices.chance(8) ? "\(choices.pick(["lower", "length", "abs"]))(\(column.quoted))" : column.quoted
                if choices.chance(15) { term += " COLLATE \(choices.pick(["NOCASE", "RTRIM"]))" }
                if choices.chance(15) { term += " DESC" }
                return term
            }
            let part =
                choices.chance(10) ? " WHERE \(columns[0].quoted) \(choices.pick(["> 5", "IS NOT NULL", "= 'a'"]))" : ""
            table.indexes.append(
                .init(
                    definition:
                        "CREATE INDEX i\(number)_\(index) ON \(table.name.quoted) (\(changes.joined(separator: ", ")))\(part)",
                    columns: columns))
        }
    }

    // MARK: Others like them

    /// Values that are a little different.
    func edits(_ choices: Choices) -> [RandomStep] {
        let column = choices.below(table.columns.count)
        guard makings[column] != nil, !table.keys.isEmpty else { return [] }
        let count = choices.pick([1, 1, 3, 40])
        return (0..<count).compactMap { _ in
            let row = choices.below(table.keys.count)
            guard let cell = cells(ofRow: row, edited: column)[column] else { return nil }
            // A kind that knows no such difference.
            let other = cell == table.columns[column].cells[row] ? Self.other(than: cell) : cell
            return .row(
                "UPDATE \(table.name.quoted) SET \(table.columns[column].name.quoted) = ? WHERE \(table.key.name) = ?",
                [other, table.cell(ofKey: table.keys[row])])
        }
    }

    private static func other(than cell: Cell) -> Cell {
        switch cell {
        case .null: .integer(1)
        case .integer(let value): .integer(value &+ 1)
        case .real(let value): .real(value + 1)
        case .text(let text): .text(text + "x")
        case .badText(let bytes): .badText(bytes + [1])
        case .blob(let bytes):
            .blob(Array(bytes.prefix(bytes.count / 2)) + [7] + Array(bytes.suffix(bytes.count - bytes.count / 2)))
        }
    }

    /// More rows, at the end or between others.
    func insertions(_ choices: Choices) -> [RandomStep] {
        let columns = table.storedColumns(beforeAdding: false)
        let sql = table.insertion(columns, values: [String](repeating: "?", count: columns.count + 1))
        let first = choices.chance(70) ? (table.keys.max() ?? 0) &+ 1 : choices.integer() >> 8
        return (0..<choices.pick([1, 5, 60])).map { number in
            let cells = cells(ofRow: table.keys.count + number).compactMap(\.self)
            return .row(sql, [table.cell(ofKey: first &+ Int64(number))] + cells)
        }
    }
}
