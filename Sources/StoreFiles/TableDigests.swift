import Crypto
package import ShipProtocol
package import StoreFormat
package import SystemPackage

/// The content of each table of a store, for the manifest, from the rows that a walk over its trees hands on.
///
/// Source: `Protocol/README.md` section 4.8. Vectors: `tables_*`.
package struct TableDigests {
    private let textEncoding: UInt32
    /// By the names of the tables, without SQLite's own, once the walk is over.
    package private(set) var contents: [ForeignText: TableContent] = [:]
    private var names: Set<String> = []
    private var canBeTold = true
    private var table: Table?

    private struct Table {
        let name: String
        let kind: TreeKind
        var hash = SHA256()
        var rows: Int64 = 0

        mutating func append(_ bytes: [UInt8]) { hash.update(data: bytes) }
    }

    /// - Parameter textEncoding: Of the store's header.
    package init(textEncoding: UInt32) { self.textEncoding = textEncoding }

    /// Takes the next rows; it skips trees of indexes.
    package mutating func take(_ rows: TreeRows) {
        switch rows {
        case .begin(let tree, let kind):
            guard tree.isTable else { return }
            let name = tree.text(textEncoding)
            table = name.hasPrefix("sqlite_") ? nil : Table(name: name, kind: kind)
        case .cells(let cells, let count):
            table?.append(cells)
            table?.rows += Int64(count)
        case .longCell(let size, let rowid):
            var bytes: [UInt8] = []
            Varint.append(UInt64(size), to: &bytes)
            if table?.kind == .table { Varint.append(UInt64(bitPattern: rowid), to: &bytes) }
            table?.append(bytes)
        case .piece(let bytes): table?.append(bytes)
        case .endOfLongCell: table?.rows += 1
        case .end: finishTable()
        }
    }

    private mutating func finishTable() {
        guard let table else { return }
        self.table = nil
        let name = ForeignText(table.name)
        // A name with invalid text gets U+FFFD, and names no table. Two names that Swift takes for equal are one member of JSON.
        canBeTold =
            canBeTold && contents.count < Limits.tables && name.isLabel && names.insert(table.name).inserted
            && !table.name.unicodeScalars.contains("\u{FFFD}")
        contents[name] = TableContent(rows: table.rows, sha256: ContentDigest(sha256: Array(table.hash.finalize())))
    }

    /// The same for a manifest; `nil` if a manifest cannot name all of them.
    package var told: [ForeignText: TableContent]? { canBeTold ? contents : nil }

    /// Reads the tables of a store, in any form, that no process changes.
    ///
    /// - Parameter check: Called before each page is read; throws to end the work.
    /// - Throws: `FileError`; `StoreFlaw` where a tree is not sound; what `check` throws.
    package static func read(_ path: FilePath, check: @escaping () throws -> Void = {}) throws -> TableDigests {
        let trees = try StoreTrees(try PageFile(reading: path, check: check))
        var digests = TableDigests(textEncoding: trees.settings.textEncoding)
        for table in try trees.schema().tables {
            try trees.read(table, makesCanonical: false) { digests.take($0) }
        }
        return digests
    }

    /// The names of the tables of a store that no process changes, without SQLite's own.
    ///
    /// - Throws: `FileError`; `StoreFlaw` where the schema is not sound.
    package static func names(in path: FilePath) throws -> Set<String> {
        let trees = try StoreTrees(try PageFile(reading: path))
        let names = try trees.schema().tables.map { $0.text(trees.settings.textEncoding) }
        return Set(names.filter { !$0.hasPrefix("sqlite_") })
    }
}

extension SchemaTrees.Tree {
    /// The name of a table, as the schema writes it, in the encoding of the store's header.
    package func text(_ encoding: UInt32) -> String {
        func units(_ unit: (UInt16, UInt16) -> UInt16) -> [UInt16] {
            stride(from: 0, to: name.count - 1, by: 2).map { unit(UInt16(name[$0]), UInt16(name[$0 + 1])) }
        }
        return switch encoding {
        case 2: String(decoding: units { $1 << 8 | $0 }, as: UTF16.self)
        case 3: String(decoding: units { $0 << 8 | $1 }, as: UTF16.self)
        default: String(decoding: name, as: UTF8.self)
        }
    }
}
