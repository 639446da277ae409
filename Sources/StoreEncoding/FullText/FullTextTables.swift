import StoreFormat

/// The full-text tables (FTS5) of a store in UTF-8.
struct FullTextTables {
    private let store: FullTextSource.Store
    private var tables: [(name: String, table: FullTextTable)] = []

    init(_ store: FullTextSource.Store) { self.store = store }

    /// Takes the next row of `sqlite_schema`.
    mutating func add(_ record: Span<UInt8>) {
        guard let row = Self.row(record), let table = FullTextTable(statement: row.statement) else { return }
        tables.append((row.name, table))
    }

    /// The name and the statement of a row of `sqlite_schema`, if it is not long.
    private static func row(_ record: Span<UInt8>) -> (name: String, statement: String)? {
        var columns = RecordColumns()
        guard record.count <= FullTextTable.longestStatement, columns.read(record), columns.count == 5 else {
            return nil
        }
        let texts = [1, 4].map { place in
            record.extracting(columns.starts[place]..<columns.starts[place + 1]).withUnsafeBufferPointer {
                String(decoding: $0, as: UTF8.self)
            }
        }
        return (texts[0], texts[1])
    }

    /// Whether the name of a table says that it has the leaves of a full-text index.
    func areLeaves(in table: SchemaTrees.Tree) -> Bool { fullText(of: table) != nil }

    private func fullText(of table: SchemaTrees.Tree) -> (name: String, table: FullTextTable)? {
        let name = String(decoding: table.name, as: UTF8.self)
        return tables.first { $0.name + "_data" == name }
    }

    /// - Parameters:
    ///   - all: The tables of the store.
    ///   - numbers: Of the indexes whose leaves are looked at; `nil` for all.
    /// - Returns: `nil` if the table has no leaves of a full-text index, or none that follow.
    func source(
        of table: SchemaTrees.Tree, among all: [SchemaTrees.Tree], indexes numbers: Set<Int64>? = nil
    ) throws -> FullTextSource? {
        guard let (index, fullText) = fullText(of: table) else { return nil }
        let contentName = (fullText.content ?? index + "_content").lowercased()
        guard
            let content = all.first(where: { String(decoding: $0.name, as: UTF8.self).lowercased() == contentName }),
            // Another index's leaves come as late as these.
            content != table, !areLeaves(in: content)
        else { return nil }
        let places = fullText.places(in: fullText.content == nil ? nil : try statement(of: contentName))
        return try FullTextSource(fullText, places: places, root: table.root, content: content, of: numbers, in: store)
    }

    /// - Parameter name: That of a table, in lower case.
    private func statement(of name: String) throws -> String? {
        var statement: String?
        try StoreTrees.forEachSchemaRow(of: store.pages, store.geometry, use: nil) { _, record in
            if let row = Self.row(record), row.name.lowercased() == name { statement = statement ?? row.statement }
        }
        return statement
    }
}
