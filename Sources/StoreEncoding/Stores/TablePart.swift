/// The parts of a table that are told apart on the wire.
package enum TablePart: Hashable, Sendable {
    case rowids
    /// By its place in the records, from 0.
    case value(Int)
    /// Rows that are too long to be taken apart.
    case longRows
    /// Entries of indexes that do not follow from the rows.
    case indexes

    var order: Int {
        switch self {
        case .rowids: -1
        case .value(let place): place
        case .longRows: .max - 1
        case .indexes: .max
        }
    }
}
