import ShipCompression
import StoreFormat

/// The trees that a decoder writes, in the order in which they are sent. It trusts neither their schema nor their number.
///
/// Source: `Protocol/COLUMNS.md` section 1.
final class TreePlan {
    /// Most trees whose rows come after those of all others.
    static let mostLater = 64

    let writer: StoreWriter
    /// The file that is written. It is read back for what follows from tables.
    let target: any StoreBuilder.Target
    let mostPages: UInt32
    private let work: DecodingWork
    /// Before the schema has come, only the first is known.
    private var trees = [PlannedTree.schema]
    private var schema: SchemaTrees?
    /// The place of the tree that is written now or next.
    private var next = 0
    /// The trees that come after all others: their places, and the pages that are kept for them.
    private var later: [(place: Int, pages: KeptPages)] = []
    private var laterEnded = 0
    /// Derived indexes of the current table so far.
    private var derivedOfTable = 0
    /// The leaves of the current tree that follow from another one.
    private var leaves = FullTextReader()

    init(
        _ settings: StoreSettings, treeCount: Int, mostPages: UInt32, _ work: DecodingWork,
        to target: any StoreBuilder.Target
    ) throws {
        self.target = target
        self.mostPages = mostPages
        self.work = work
        writer = try StoreWriter(settings, treeCount: treeCount, mostPages: mostPages, sink: target)
        schema = SchemaTrees(textEncoding: settings.textEncoding)
    }

    /// Whether the tree that is written now or next is that of `sqlite_schema`.
    var isInSchema: Bool { next == 0 }
    /// Whether it is one that comes after all others.
    var isInLater: Bool { next == trees.count }
    /// What is kept for those.
    var kept: [KeptPages] { later.map(\.pages) }
    var isComplete: Bool { isInLater && laterEnded == later.count }

    /// The tree that is written now or next.
    func current() throws -> PlannedTree {
        guard !isComplete else { throw CompressionError.damaged(.rows) }
        return trees[isInLater ? later[laterEnded].place : next]
    }

    func addSchemaRow(_ record: Span<UInt8>) throws { try schema?.add(record) }

    func begin(_ kind: TreeKind) throws -> TreeWriter {
        let tree = try current()
        // A table WITHOUT ROWID is a tree of entries; an index is never a tree of rows.
        guard tree.isTable || kind == .index, !isInSchema || kind == .table else {
            throw CompressionError.damaged(.rows)
        }
        if tree.isTable { derivedOfTable = 0 }
        leaves = FullTextReader()
        if isInLater { writer.fill(later[laterEnded].pages) }
        return writer.tree(kind, root: tree.root)
    }

    func end(_ tree: consuming TreeWriter) throws {
        try tree.end()
        if isInLater {
            try writer.endFilling()
            laterEnded += 1
        } else {
            next += 1
            if let schema { try planTrees(of: schema) }
        }
    }

    /// Lists the trees that follow the schema, and checks that the schema names their roots.
    private func planTrees(of schema: SchemaTrees) throws {
        guard schema.count + 1 == writer.roots.count else { throw CompressionError.damaged(.rows) }
        self.schema = nil
        trees += try PlannedTree.all(of: schema)
        for tree in trees where writer.roots[tree.place] != tree.root { throw CompressionError.damaged(.rows) }
    }

    /// The next tree is a table whose rows come after those of all other trees.
    func postpone(pages count: Int) throws {
        guard !isInSchema, next < trees.count, trees[next].isTable,
            next + 1 == trees.count || trees[next + 1].isTable, later.count < Self.mostLater
        else { throw CompressionError.damaged(.rows) }
        later.append((next, try writer.keep(count)))
        next += 1
    }

    /// Reads rows of the current tree that are leaves of a full-text index.
    func readLeaves(
        from reader: inout SegmentReader, put: (_ record: [UInt8], _ rowid: Int64) throws -> Void
    ) throws {
        guard !isInSchema, writer.settings.textEncoding <= 1 else { throw CompressionError.damaged(.rows) }
        try leaves.read(from: &reader, work) { shape in
            // Its rows have all come: it is before this tree, and none of those that come later.
            guard let place = trees[1..<next].firstIndex(where: { $0.place == shape.content }), trees[place].isTable,
                !later.contains(where: { $0.place == place }),
                try TreeReader.kind(of: trees[place].root, in: target, writer.geometry) == .table
            else { throw CompressionError.damaged(.rows) }
            return try shape.postings(in: target, writer.geometry, root: trees[place].root, work) { [target] in
                try target.makeSpillFile()
            }
        } put: {
            try put($0, $1)
        }
    }

    /// The next tree is an index whose entries follow from its table.
    func derive(_ shape: IndexShape) throws {
        let index = try current()
        derivedOfTable += 1
        guard !index.isTable, derivedOfTable <= IndexShape.mostOfTable else { throw CompressionError.damaged(.rows) }
        try shape.writeIndex(
            ofTable: index.table, root: index.root, with: writer, to: target,
            room: mostPages - min(mostPages, writer.pageCount), work)
        next += 1
    }

    /// Completes the file.
    func finish() throws {
        guard isComplete else { throw CompressionError.damaged(.rows) }
        try writer.finish()
        guard writer.pageCount == mostPages else { throw CompressionError.damaged(.rows) }
    }
}
