import GRDB
import ShipProtocol
import StoreFormat

/// Finds the rows that two states of a table do not share, by a merge in the order of their keys. A leaf that is the same in both is passed
/// over at once.
///
/// Memory: two records of at most `CanonicalForm.longestHeldRecord`, and the keys that it finds.
struct TableMerge {
    /// How much may still be told of one change of a store.
    struct Room {
        var rows = ChangedRows.most
        var keyBytes = ChangedRows.mostKeyBytes
    }

    /// More was found than there is room for.
    struct TooMany: Error {}

    /// Bytes of a long record that are compared at a time.
    private static let piece = 64 * 1024

    private var old: MergedRows
    private var new: MergedRows
    private let key: TableKey
    private let hasSamePages: Bool
    private var room: Room
    private var inserted: [ChangedRow] = []
    private var updated: [ChangedRow] = []
    private var deleted: [ChangedRow] = []

    /// - Parameters:
    ///   - hasSamePages: Whether pages of one are laid out as those of the other.
    ///   - room: Of which what is told is taken.
    init(_ old: MergedRows, _ new: MergedRows, _ key: TableKey, hasSamePages: Bool, in room: Room) {
        (self.old, self.new, self.key, self.hasSamePages, self.room) = (old, new, key, hasSamePages, room)
    }

    /// - Returns: The rows, and the room that is left.
    /// - Throws: `TooMany`, `StoreFlaw`, and what the pages throw.
    consuming func run() throws -> (rows: ChangedRows, room: Room) {
        while try step() {}
        let rows = ChangedRows(
            keyColumns: key.columns.map { ForeignText($0) }, inserted: inserted, updated: updated, deleted: deleted)
        return (rows, room)
    }

    /// - Returns: Whether there was a row.
    private mutating func step() throws -> Bool {
        if hasSamePages, old.isBetweenRows, new.isBetweenRows {
            while try old.cursor.skipCommonLeaf(with: &new.cursor) != nil {}
        }
        try old.fill(in: key.order)
        try new.fill(in: key.order)
        switch (old.cell, new.cell) {
        case (nil, nil): return false
        case (let cell?, nil): deleted.append(try Self.tell(cell, &old, key, &room))
        case (nil, let cell?): inserted.append(try Self.tell(cell, &new, key, &room))
        case (let first?, let second?):
            let order = key.order?.compare(old.record.span, new.record.span)
            if first.rowid < second.rowid || order ?? 0 < 0 {
                deleted.append(try Self.tell(first, &old, key, &room))
            } else if first.rowid > second.rowid || order ?? 0 > 0 {
                inserted.append(try Self.tell(second, &new, key, &room))
            } else if try hasSameRecords(first, second) {
                old.pass()
                new.pass()
            } else {
                updated.append(try Self.tell(second, &new, key, &room))
                old.pass()
            }
        }
        return true
    }

    private mutating func hasSameRecords(_ first: TreeCell, _ second: TreeCell) throws -> Bool {
        guard first.payloadSize == second.payloadSize else { return false }
        guard first.payloadSize > CanonicalForm.longestHeldRecord else {
            try old.hold()
            try new.hold()
            return old.record == new.record
        }
        let (left, right) = (try old.cursor.reader.places(of: first), try new.cursor.reader.places(of: second))
        for start in stride(from: 0, to: left.size, by: Self.piece) {
            let range = start..<min(left.size, start + Self.piece)
            var (one, other): ([UInt8], [UInt8]) = ([], [])
            try left.append(range, to: &one)
            try right.append(range, to: &other)
            guard one == other else { return false }
        }
        return true
    }

    /// Tells the row that a side stands on, and passes it.
    private static func tell(
        _ cell: TreeCell, _ side: inout MergedRows, _ key: TableKey, _ room: inout Room
    ) throws -> ChangedRow {
        defer { side.pass() }
        room.rows -= 1
        guard room.rows >= 0 else { throw TooMany() }
        guard key.order == nil else {
            room.keyBytes -= try side.keySize(key.columns.count)
            guard room.keyBytes >= 0 else { throw TooMany() }
            return ChangedRow(key: try side.key(key.columns.count), entity: nil, objectID: nil)
        }
        let object = try side.object(cell, entityPlace: key.entityPlace)
        return ChangedRow(key: [cell.rowid.databaseValue], entity: object?.entity, objectID: object?.id)
    }
}
