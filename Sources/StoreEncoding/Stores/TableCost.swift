/// What a table takes on the wire, and which part of it takes how much.
package struct TableCost: Hashable, Sendable {
    /// Bytes.
    package let total: Int64
    /// Bytes that add up to `total`; none where there are no rows.
    package let parts: [TablePart: Int64]

    /// - Parameter weights: In which proportion the parts share the total.
    package init(total: Int64, weights: [TablePart: Int64]) {
        let parts = weights.filter { $0.value > 0 }.sorted { $0.key.order < $1.key.order }
        let shares = parts.map(\.value).shares(of: total)
        self.total = total
        self.parts = Dictionary(zip(parts.map(\.key), shares)) { first, _ in first }
    }

    /// The same in another proportion to all.
    package func scaled(to total: Int64) -> TableCost { TableCost(total: total, weights: parts) }
}

/// What of a table is told apart on the wire.
package enum TablePart: Hashable, Sendable {
    case rowids
    /// By its place in the records, from 0.
    case value(Int)
    /// Rows that are too long to be taken apart.
    case longRows
    /// Entries of indexes that do not follow from the rows.
    case indexes

    fileprivate var order: Int {
        switch self {
        case .rowids: -1
        case .value(let place): place
        case .longRows: .max - 1
        case .indexes: .max
        }
    }
}

extension [Int64] {
    /// Whole numbers in the proportion of these that add up to `total`.
    ///
    /// - Returns: Only zeros for no weight at all.
    package func shares(of total: Int64) -> [Int64] {
        let all = reduce(0, +)
        var (sum, given): (Int64, Int64) = (0, 0)
        return map { weight in
            sum += weight
            let upToHere =
                all == 0 ? 0 : sum == all ? total : Int64((Double(sum) / Double(all) * Double(total)).rounded())
            defer { given = upToHere }
            return upToHere - given
        }
    }
}
