public import ShipProtocol

/// What the checks of a store found that is no reason to refuse it.
public struct CheckReport: Hashable, Sendable, Codable {
    public let depth: Depth
    public let foreignKeys: ForeignKeys

    /// How far the checks went.
    public enum Depth: String, Hashable, Sendable, Codable {
        /// `quick_check`: the store was larger than `CheckLimits.fullCheckSize`.
        case quick
        /// `integrity_check` as well; of a larger store where `quick_check` had complaints, of which some are wrong.
        case full
    }

    /// What `foreign_key_check` says: SQLite leaves it to each connection whether foreign keys mean anything.
    public enum ForeignKeys: Hashable, Sendable, Codable {
        case sound
        /// So many rows refer to rows that are not there; no more than `most` are counted.
        case violated(rows: Int)
        /// They refer to what is no key, or to tables that are not there: SQLite's words.
        case unclear(ForeignText)

        /// Rows that are counted.
        public static let most = 1000
    }
}
