import EssentialFoundation
import GRDB
import ShipProtocol
import StoreFormat

/// The rows of one side of a merge.
struct MergedRows {
    /// Bytes of a long record in which its first columns are looked for.
    private static let head = 64 * 1024

    var cursor: StoreFormat.RowCursor
    private let textEncoding: UInt32
    /// `nil` where rows are no objects.
    private let names: ObjectNames?
    /// The row that it stands on; `nil` between two rows, and at the end.
    private(set) var cell: TreeCell?
    /// Of that row, if it was asked for; one value is reused for many rows.
    private(set) var record: [UInt8] = []
    private var holdsRecord = false
    private var isAtEnd = false

    init(_ cursor: StoreFormat.RowCursor, textEncoding: UInt32, _ names: ObjectNames?) {
        (self.cursor, self.textEncoding, self.names) = (cursor, textEncoding, names)
    }

    var isBetweenRows: Bool { cell == nil && !isAtEnd }

    /// Goes to the next row, if it is between two.
    ///
    /// - Parameter order: Of the rows, whose records are read then; `nil` if it is that of rowids.
    /// - Throws: `StoreFlaw`, also for a record that is too long to be compared, or that SQLite compares otherwise.
    mutating func fill(in order: IndexOrder?) throws {
        guard isBetweenRows else { return }
        cell = try cursor.next()
        guard let cell else {
            isAtEnd = true
            return
        }
        guard let order else { return }
        guard cell.payloadSize <= CanonicalForm.longestHeldRecord else { throw StoreFlaw.record(page: cell.page) }
        try hold()
        guard order.comparesWholeTexts(of: record.span) else { throw StoreFlaw.record(page: cell.page) }
    }

    mutating func pass() {
        cell = nil
        holdsRecord = false
    }

    /// Reads the record of the row, which is not longer than `CanonicalForm.longestHeldRecord`.
    mutating func hold() throws {
        guard let cell, !holdsRecord else { return }
        record.removeAll(keepingCapacity: true)
        try cursor.reader.appendRecord(of: cell, to: &record)
        holdsRecord = true
    }
}

/// The words about a row.
extension MergedRows {
    private struct NoText: Error {}

    private func columns(atLeast count: Int) throws -> RecordColumns {
        var columns = RecordColumns()
        guard columns.read(record.span), columns.count >= count else { throw StoreFlaw.record(page: cell?.page ?? 0) }
        return columns
    }

    /// Bytes of the first values of the record.
    func keySize(_ count: Int) throws -> Int {
        let columns = try columns(atLeast: count)
        return columns.starts[count] - columns.starts[0]
    }

    /// The first values of the record.
    func key(_ count: Int) throws -> [DatabaseValue] {
        let columns = try columns(atLeast: count)
        return try (0..<count).map { place in
            let (type, range) = (columns.types[place], columns.range(place))
            if type == SerialType.null { return .null }
            if SerialType.isInteger(type) {
                return CanonicalRecord.integer(type, in: record.span, at: range.lowerBound).databaseValue
            }
            if type == SerialType.real {
                let bits = CanonicalRecord.integer(6, in: record.span, at: range.lowerBound)
                return Double(bitPattern: UInt64(bitPattern: bits)).databaseValue
            }
            guard SerialType.isText(type) else { return Data(record[range]).databaseValue }
            guard let text = String(bytes: record[range], textEncoding: textEncoding) else { throw NoText() }
            return text.databaseValue
        }
    }

    /// The object that the row is, by the place of `Z_ENT` in the record.
    mutating func object(_ cell: TreeCell, entityPlace: Int?) throws -> (entity: ForeignText, id: URL)? {
        guard let names, let entityPlace else { return nil }
        var head: [UInt8] = []
        if cell.payloadSize > CanonicalForm.longestHeldRecord {
            try cursor.reader.places(of: cell).append(0..<Self.head, to: &head)
        } else {
            try hold()
            head = record
        }
        return Self.integer(entityPlace, in: head.span).flatMap { names.object($0, key: cell.rowid) }
    }

    /// - Parameter record: Or its beginning.
    private static func integer(_ place: Int, in record: Span<UInt8>) -> Int64? {
        var position = 0
        guard let size = Varint.read(record, at: &position), size <= UInt64(record.count) else { return nil }
        var (value, column) = (Int(size), 0)
        while position < Int(size) {
            guard let type = Varint.read(record, at: &position), let length = SerialType.length(type),
                length <= record.count - value
            else { return nil }
            guard column < place else {
                return SerialType.isInteger(type) ? CanonicalRecord.integer(type, in: record, at: value) : nil
            }
            value += length
            column += 1
        }
        return nil
    }
}
