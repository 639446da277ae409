/// The canonical form of a compact copy, made in two halves that may run in two threads: `read`, and `writer`, which takes what `read`
/// hands on.
///
/// Source: `Protocol/CANONICAL.md`.
package struct CanonicalForm {
    /// Longest record, in bytes, that is held in memory; a longer one goes through in pieces.
    package static let longestHeldRecord = 256 * 1024

    package let settings: StoreSettings
    package let writer: CanonicalWriter
    private let store: StoreTrees
    /// In the order of `Protocol/CANONICAL.md` section 4.
    private let trees: [SchemaTrees.Tree]
    private let mayHaveUnusedPages: Bool
    private let entryOrders: [String: IndexOrder]

    /// - Parameter pages: Of a compact copy.
    /// - Throws: `StoreFlaw`, and what `pages` and `sink` throw.
    package init(ofCompact pages: any PageSource, to sink: any PageSink) throws {
        store = try StoreTrees(pages)
        try store.checkCounts()
        settings = store.settings
        mayHaveUnusedPages = false
        entryOrders = [:]
        let schema = try store.schema()
        trees = try Self.order(of: schema)
        writer = try CanonicalWriter(settings, treeCount: schema.count, to: sink)
        try store.forEachSchemaRow { try writer.appendSchemaRow($1, rowid: $0) }
        try writer.endSchema()
    }

    /// The canonical form of the compact copy that `VACUUM INTO` would make of a store, without running that.
    ///
    /// - Parameters:
    ///   - pages: Of a copy of the store, in any order, with free ones.
    ///   - order: The order of rows and entries in the compact copy.
    /// - Throws: `StoreFlaw`, also where the compact copy would have other settings; what `pages` and `sink` throw.
    package init(ofScattered pages: any PageSource, _ order: CompactOrder, to sink: any PageSink) throws {
        store = try StoreTrees(pages)
        settings = store.settings
        guard settings.staysTheSame else { throw StoreFlaw.schemaFormat(settings.schemaFormat) }
        mayHaveUnusedPages = true
        entryOrders = order.entries
        guard entryOrders.isEmpty || settings.textEncoding == 1 else {
            throw StoreFlaw.textEncoding(settings.textEncoding)
        }
        let rows = try store.schemaRows(inOrder: order.schema)
        var schema = SchemaTrees(textEncoding: settings.textEncoding)
        for row in rows { try schema.add(row.span) }
        trees = try Self.order(of: schema)
        writer = try CanonicalWriter(settings, treeCount: schema.count, to: sink)
        for (index, row) in rows.enumerated() { try writer.appendSchemaRow(row.span, rowid: Int64(index) + 1) }
        try writer.endSchema()
    }

    /// Reads a compact copy and writes its canonical form, in one thread.
    ///
    /// - Throws: `StoreFlaw` if it has none; what `pages` and `sink` throw.
    package static func write(of pages: any PageSource, to sink: any PageSink) throws {
        let form = try CanonicalForm(ofCompact: pages, to: sink)
        try form.read { try form.writer.take($0) }
        try form.writer.finish()
    }

    private static func order(of schema: SchemaTrees) throws(StoreFlaw) -> [SchemaTrees.Tree] {
        try schema.inOrder().flatMap { [$0.table] + $0.indexes }
    }

    /// Reads all trees but that of `sqlite_schema`.
    package func read(_ take: (TreeRows) throws -> Void) throws {
        for tree in trees {
            let order = entryOrders.isEmpty ? nil : entryOrders[String(decoding: tree.name, as: UTF8.self)]
            try store.read(tree, makesCanonical: true, in: order, take)
        }
        if !mayHaveUnusedPages { try store.checkThatAllIsUsed() }
    }
}

extension StoreSettings {
    /// Whether `VACUUM INTO` keeps them: it writes the newest format, and one of two numbers for incremental
    /// vacuum [vacuum.c, sqlite3RunVacuum; btree.c, newDatabase].
    fileprivate var staysTheSame: Bool {
        schemaFormat == Self.highestSchemaFormat && textEncoding != 0
            && (incrementalVacuum == 0 || incrementalVacuum == 1 && hasAutoVacuum)
    }
}

/// The half of making a canonical form that writes.
package final class CanonicalWriter {
    private let settings: StoreSettings
    private let store: StoreWriter
    private var tree: TreeWriter?
    private var namedRows = 0

    fileprivate init(_ settings: StoreSettings, treeCount: Int, to sink: any PageSink) throws {
        self.settings = settings
        store = try StoreWriter(settings, treeCount: treeCount, sink: sink)
        tree = store.tree(.table, root: 1)
    }

    fileprivate func appendSchemaRow(_ record: Span<UInt8>, rowid: Int64) throws {
        guard let row = SchemaRow(record) else { return }
        if row.root != 0 { namedRows += 1 }
        let encoded = row.encoded(from: record, root: store.roots[namedRows], settings.integers)
        try tree?.append(encoded.span, rowid: rowid)
    }

    fileprivate func endSchema() throws {
        try tree?.end()
        tree = nil
    }

    package func take(_ rows: TreeRows) throws {
        if case .begin(let place, let kind) = rows {
            tree = store.tree(kind, root: store.roots[place.index])
        } else {
            try tree?.take(rows)
        }
    }

    /// Writes the rest. Call it after all rows.
    package func finish() throws { try store.finish() }
}
