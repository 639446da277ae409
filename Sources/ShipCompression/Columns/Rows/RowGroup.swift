package import StoreFormat

/// Rows of one b-tree, in its order.
package struct RowGroup: Hashable, Sendable {
    /// Of tables; `nil` in index-organised trees (WITHOUT ROWID tables, index b-trees).
    package var rowids: [Int64]?
    /// SQLite records back to back, in canonical encoding (`IntegerForm`).
    package var records: [UInt8]
    /// Where each record ends in `records`.
    package var ends: [Int]

    package init(rowids: [Int64]? = nil, records: [UInt8] = [], ends: [Int] = []) {
        self.rowids = rowids
        self.records = records
        self.ends = ends
    }
}

/// Is told what a part of a table takes for itself, in bytes: a weight, beside what its neighbours take.
package typealias PartNote = (_ part: TablePart, _ cost: Int) -> Void
