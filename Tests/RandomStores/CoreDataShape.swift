import RandomValues

/// What Core Data keeps in a store beside the rows of entities, and beside the store.
enum CoreDataShape {
    private static let mostFiles = 200

    /// The tables that each store has.
    static func statements(_ choices: Choices) -> [String] {
        let cache = ValueKind.lists[0].begin(choices)(choices, .init(row: 0))
        return [
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
            "INSERT INTO Z_METADATA VALUES (1, '0E9C7A52-6F0C-4B6B-9B1B-3C8A6C0B7D11', \(metadata(choices).sql))",
            "INSERT INTO Z_MODELCACHE VALUES (\(cache.sql))",
        ]
            + (1...choices.number(in: 1...9)).map {
                "INSERT INTO Z_PRIMARYKEY VALUES (\($0), '\(choices.word())', 0, \(choices.below(100_000)))"
            }
    }

    static func change(_ choices: Choices) -> [RandomStep] {
        choices.chance(50)
            ? [.row("UPDATE Z_METADATA SET Z_PLIST = ?", [metadata(choices)])]
            : [.statements("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + \(choices.below(9))")]
    }

    private static func metadata(_ choices: Choices) -> Cell {
        ValueKind.storeMetadata.begin(choices)(choices, .init(row: 0))
    }

    // MARK: External files

    /// - Returns: The files to which tables refer, most of them, by their names.
    static func files(of tables: [RandomTable], _ choices: Choices) -> [String: [UInt8]] {
        let names = tables.flatMap { table in
            table.columns.filter { $0.declaration.uppercased() == "BLOB" }.flatMap { $0.cells.compactMap(name) }
        }
        var files: [String: [UInt8]] = [:]
        for name in names.prefix(mostFiles) where choices.chance(90) { files[name] = content(choices) }
        return files
    }

    /// - Returns: The steps, each after the files to which its cells refer.
    static func withFiles(_ steps: [RandomStep], _ choices: Choices) -> [RandomStep] {
        steps.flatMap { step in
            guard case .row(_, let cells) = step else { return [step] }
            return cells.compactMap(name).map { .file($0, content(choices)) } + [step]
        }
    }

    /// A reference is a 2, a UUID and a NUL.
    private static func name(in cell: Cell) -> String? {
        guard case .blob(let bytes) = cell, bytes.count == 38, bytes[0] == 2, bytes[37] == 0 else { return nil }
        return String(validating: bytes[1..<37], as: UTF8.self)
    }

    private static func content(_ choices: Choices) -> [UInt8] {
        switch choices.pick(ValueKind.all).begin(choices)(choices, .init(row: choices.below(20))) {
        case .blob(let bytes), .badText(let bytes): bytes
        case .text(let text): Array(text.utf8)
        case .null, .integer, .real: choices.bytes(choices.length(upTo: 100_000))
        }
    }
}
