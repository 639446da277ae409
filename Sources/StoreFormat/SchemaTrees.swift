/// The b-trees that a store's schema names, and the order in which its canonical form has them.
///
/// Source: `Protocol/CANONICAL.md` sections 1 and 4.
package struct SchemaTrees: Sendable {
    /// Most trees beside that of `sqlite_schema`.
    package static let most = 65_536
    /// Longest row of `sqlite_schema`, in bytes.
    package static let longestRow = 4 * 1024 * 1024
    /// Most bytes of all names together.
    private static let mostNameBytes = 16 * 1024 * 1024

    /// A tree that a row of `sqlite_schema` names.
    package struct Tree: Hashable, Sendable {
        package let isTable: Bool
        /// Bytes of the store's text encoding.
        package let name: [UInt8]
        /// The root page that the row names.
        package let root: UInt32
        /// Its place among all trees, in the order of rows, from 1; 0 is the tree of `sqlite_schema`.
        package let index: Int
    }

    /// The tables in their order, without their indexes.
    package private(set) var tables: [Tree] = []
    private var places: [[UInt8]: Int] = [:]
    private var indexes: [(tree: Tree, table: [UInt8], row: Int)] = []
    private var roots: Set<UInt32> = []
    private var nameBytes = 0
    private var rows = 0
    private let words: (table: [UInt8], index: [UInt8])

    /// - Parameter textEncoding: Of the header.
    package init(textEncoding: UInt32) {
        words = ("table".bytes(textEncoding: textEncoding), "index".bytes(textEncoding: textEncoding))
    }

    /// Trees so far, without that of `sqlite_schema`.
    package private(set) var count = 0

    /// Takes the next row of `sqlite_schema`.
    package mutating func add(_ record: Span<UInt8>) throws(StoreFlaw) {
        defer { rows += 1 }
        guard let row = SchemaRow(record) else { throw .schemaRow(rows) }
        guard row.root != 0 else { return }
        guard let root = UInt32(exactly: row.root), root > 1, roots.insert(root).inserted else {
            throw .schemaRow(rows)
        }
        count += 1
        nameBytes += row.name.count + row.tableName.count
        guard count <= Self.most, nameBytes <= Self.mostNameBytes else { throw .tooManyTrees }
        let type = bytes(of: record, row.type)
        let name = bytes(of: record, row.name)
        let tree = Tree(isTable: type == words.table, name: name, root: root, index: count)
        if type == words.table {
            guard places.updateValue(tables.count, forKey: name) == nil else { throw .schemaRow(rows) }
            tables.append(tree)
        } else if type == words.index {
            indexes.append((tree, bytes(of: record, row.tableName), rows))
        } else {
            throw .schemaRow(rows)
        }
    }

    /// The tables in their order, each with its indexes.
    package func inOrder() throws(StoreFlaw) -> [(table: Tree, indexes: [Tree])] {
        var tables = tables.map { (table: $0, indexes: [Tree]()) }
        for index in indexes {
            guard let place = places[index.table] else { throw .schemaRow(index.row) }
            tables[place].indexes.append(index.tree)
        }
        return tables
    }

    private func bytes(of record: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        record.extracting(range).withUnsafeBufferPointer { Array($0) }
    }
}
