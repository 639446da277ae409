import StoreFormat
import TestSupport

/// A store that is put together page by page, as SQLite never would.
struct HandmadeStore {
    private(set) var bytes: [UInt8]
    let pageSize = 512

    /// - Parameter pages: The pages from 2 on.
    init(schema rows: [[UInt8]], pages: [[UInt8]]) throws {
        let settings = try StoreSettings(
            pageSize: pageSize, reservedBytes: 0, schemaFormat: 4, cacheSize: 0, hasAutoVacuum: false, textEncoding: 1,
            userVersion: 0, incrementalVacuum: 0, applicationID: 0)
        let cells = rows.enumerated().map { Self.cell($1, rowid: Int64($0 + 1)) }
        let first = Self.page(.table, cells, offset: DatabaseHeader.size)
        let count = UInt32(pages.count + 1)
        bytes = settings.header(pageCount: count, highestRoot: 0) + first.dropFirst(DatabaseHeader.size)
        for page in pages { bytes += page }
    }

    /// A row of `sqlite_schema`.
    static func schemaRow(type: String = "table", name: String, of table: String? = nil, root: UInt8) -> [UInt8] {
        let texts = [type, name, table ?? name].map { Array($0.utf8) }
        return [6] + texts.map { UInt8($0.count * 2 + 13) } + [1, 0] + texts.joined() + [root]
    }

    /// A cell of a table's leaf, all of it in the page.
    static func cell(_ record: [UInt8], rowid: Int64) -> [UInt8] {
        var cell: [UInt8] = []
        Varint.append(UInt64(record.count), to: &cell)
        Varint.append(UInt64(bitPattern: rowid), to: &cell)
        return cell + record
    }

    /// - Parameters:
    ///   - child: The right-most child; with it the page is an interior one.
    ///   - repeated: How often the pointer to the last cell is there.
    static func page(
        _ kind: TreeKind, _ cells: [[UInt8]], child: UInt32? = nil, repeated: Int = 1, offset: Int = 0
    ) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: 512)
        let count = cells.count + (cells.isEmpty ? 0 : repeated - 1)
        page[offset] = child == nil ? kind.leafType : kind.interiorType
        page[offset + 3] = UInt8(count >> 8)
        page[offset + 4] = UInt8(count & 0xFF)
        var pointer = offset + 8
        if let child {
            page.replaceSubrange(pointer..<(pointer + 4), with: bigEndian(child))
            pointer += 4
        }
        var start = page.count
        for (index, cell) in cells.enumerated() {
            start -= max(4, cell.count)
            page.replaceSubrange(start..<(start + cell.count), with: cell)
            for _ in 0..<(index == cells.count - 1 ? repeated : 1) {
                page[pointer] = UInt8(start >> 8)
                page[pointer + 1] = UInt8(start & 0xFF)
                pointer += 2
            }
        }
        return page
    }

    static func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
}
