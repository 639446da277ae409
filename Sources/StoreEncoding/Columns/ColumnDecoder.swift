import ShipCompression

/// Reads the columns of one group, and keeps what later columns may refer to.
struct ColumnDecoder {
    /// The rowids, then by column; `nil` as in `ColumnEncoder`.
    private(set) var integerReferences: [[Int64]?] = []
    /// By column.
    private(set) var columns: [ColumnValues] = []
    /// By column: whether all rows have it.
    private(set) var areInAllRows: [Bool] = []
    private(set) var classReferences: [(ids: [Int64], count: Int)?] = []

    init(rowids: [Int64]?) { integerReferences = [rowids] }

    mutating func keep(_ column: ColumnValues, _ classes: (ids: [Int64], count: Int)?, isInAllRows: Bool) {
        integerReferences.append(
            isInAllRows && column.kindMask == 1 << ColumnValues.integerKind ? column.integers : nil)
        columns.append(column)
        areInAllRows.append(isInAllRows)
        classReferences.append(classes)
    }

    /// - Returns: The texts of an earlier column; all rows have it, and only texts.
    func texts(_ index: Int) throws(CompressionError) -> Strings {
        guard index < columns.count, areInAllRows[index], columns[index].kindMask == 1 << ColumnValues.textKind else {
            throw .damaged(.segment)
        }
        return columns[index].texts
    }
}
