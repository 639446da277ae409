import Crypto
import ShipProtocol
import StoreFiles
import StoreFormat
import StoreInbox
import SystemPackage

/// What is in each table of a store that was checked, found by a walk over its pages: two stores of which a table has equal
/// contents here have the same rows in it. Nobody's word is taken for it, and SQLite is not asked.
///
/// Rows are compared as they are written: the same value in another encoding counts as another one, which only stores that
/// have no canonical form can have. Source: sqlite.org/fileformat2.html.
struct StoredTables: Hashable, Sendable {
    struct Content: Hashable, Sendable {
        let rows: Int64
        let sha256: ContentDigest
    }

    /// By the names of the tables that are not SQLite's own.
    private let contents: [ForeignText: Content]

    /// - Parameter path: The store.
    /// - Throws: `FileError`, `StoreFlaw`, `CancellationError`.
    init(of path: FilePath) throws {
        let pages = try PageFile(reading: path) { try Task.checkCancellation() }
        var header = [UInt8](repeating: 0, count: DatabaseHeader.size)
        try pages.read(1, into: &header)
        let settings = try StoreSettings(decoding: header)
        var contents: [ForeignText: Content] = [:]
        let walk = StoreWalk(pages, PageGeometry(settings), use: PageUse(pageCount: pages.pageCount))
        for table in try walk.tables(textEncoding: settings.textEncoding) {
            contents[table.name] = try walk.content(of: table)
        }
        self.contents = contents
    }

    /// Which tables of a generation have other rows than in the one before it.
    ///
    /// - Parameters:
    ///   - old: The generation before; `nil` if there was none.
    ///   - known: What is in its tables, if that was found already.
    /// - Returns: The changes, sorted by name, or `nil` if they cannot be told; and what is in the tables of the new one.
    static func changes(
        from old: Generation?, _ known: StoredTables?, to new: Generation
    ) -> (changes: [GenerationDifference.TableChange]?, tables: StoredTables?) {
        if let old, old.manifest.store.sha256 == new.manifest.store.sha256 { return ([], known) }
        guard let after = try? StoredTables(of: new.storePath) else { return (nil, nil) }
        guard let old else { return (after.changes(from: [:]), after) }
        let before = known ?? (try? StoredTables(of: old.storePath))
        return (before.map { after.changes(from: $0.contents) }, after)
    }

    private func changes(from before: [ForeignText: Content]) -> [GenerationDifference.TableChange] {
        Set(before.keys).union(contents.keys).sorted().filter { before[$0] != contents[$0] }.map { name in
            GenerationDifference.TableChange(
                name: name, rowsBefore: before[name]?.rows, rowsAfter: contents[name]?.rows)
        }
    }
}

/// A walk over the b-trees of one store; no page is met twice.
private struct StoreWalk {
    struct Table {
        let name: ForeignText
        let root: UInt32
    }

    /// Bytes to gather before they are hashed.
    private static let gathered = 64 * 1024

    private let pages: PageFile
    private let geometry: PageGeometry
    private let use: PageUse

    init(_ pages: PageFile, _ geometry: PageGeometry, use: PageUse) {
        self.pages = pages
        self.geometry = geometry
        self.use = use
    }

    func tables(textEncoding: UInt32) throws -> [Table] {
        var trees = SchemaTrees(textEncoding: textEncoding)
        var reader = try TreeReader(pages, geometry, root: 1, kind: .table, use: use)
        var record: [UInt8] = []
        while let cell = try reader.next() {
            guard cell.payloadSize <= SchemaTrees.longestRow else { throw StoreFlaw.record(page: cell.page) }
            record.removeAll(keepingCapacity: true)
            try reader.appendRecord(of: cell, to: &record)
            try trees.add(record.span)
        }
        return try trees.inOrder().map(\.tree).compactMap { tree in
            let name = Self.text(tree.name, textEncoding)
            return name.hasPrefix("sqlite_") ? nil : Table(name: ForeignText(name), root: tree.root)
        }
    }

    private static func text(_ bytes: [UInt8], _ encoding: UInt32) -> String {
        func units(_ unit: (UInt16, UInt16) -> UInt16) -> [UInt16] {
            stride(from: 0, to: bytes.count - 1, by: 2).map { unit(UInt16(bytes[$0]), UInt16(bytes[$0 + 1])) }
        }
        return switch encoding {
        case 2: String(decoding: units { $1 << 8 | $0 }, as: UTF16.self)
        case 3: String(decoding: units { $0 << 8 | $1 }, as: UTF16.self)
        default: String(decoding: bytes, as: UTF8.self)
        }
    }

    func content(of table: Table) throws -> StoredTables.Content {
        let kind = try TreeReader.kind(of: table.root, in: pages, geometry)
        var reader = try TreeReader(pages, geometry, root: table.root, kind: kind, use: use)
        var hash = SHA256()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * Self.gathered)
        var rows: Int64 = 0
        while let cell = try reader.next() {
            rows += 1
            for number in [UInt64(bitPattern: cell.rowid), UInt64(cell.payloadSize)] {
                withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
            }
            try reader.forEachPiece(of: cell) { piece in
                piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
                guard bytes.count >= Self.gathered else { return }
                hash.update(data: bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        hash.update(data: bytes)
        return StoredTables.Content(rows: rows, sha256: ContentDigest(sha256: Array(hash.finalize())))
    }
}
