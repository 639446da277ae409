public import ShipProtocol

/// Findings of the checks of a store that are no reason to refuse it.
public struct CheckReport: Hashable, Sendable, Codable {
    public let depth: Depth
    public let foreignKeys: ForeignKeys

    /// How far the checks went.
    public enum Depth: String, Hashable, Sendable, Codable {
        /// `quick_check`: the store was larger than `CheckLimits.fullCheckSize`.
        case quick
        /// `integrity_check` as well. A larger store gets it if `quick_check` had complaints, as some of those are wrong.
        case full
    }

    /// The result of `foreign_key_check`: SQLite leaves it to each connection whether foreign keys mean anything.
    public enum ForeignKeys: Hashable, Sendable, Codable {
        case sound
        /// This number of rows refer to rows that do not exist; at most `most` are counted.
        case violated(rows: Int)
        /// They refer to what is no key, or to tables that are not there: SQLite's words.
        case unclear(ForeignText)

        /// Rows that are counted.
        public static let most = 1000
    }
}
