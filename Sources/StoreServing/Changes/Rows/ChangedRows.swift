public import ShipProtocol

/// The rows of a table that changed, in the order of their keys.
///
/// Rows are compared as they are written: one that was written anew with the same values may be among the updated ones.
public struct ChangedRows: Hashable, Sendable {
    /// Most rows that are told of one change of a store, in all of its tables: by their names, those that Core Data keeps for itself last.
    public static let most = 10_000
    /// Most bytes of their keys.
    static let mostKeyBytes = 1024 * 1024

    /// The columns that tell a row from others: the INTEGER PRIMARY KEY, or in a table WITHOUT ROWID the columns of its primary key.
    ///
    /// `rowid` where a table has neither, or `_rowid_` or `oid` where a column has that name. Such rowids reach the inbox as they are
    /// in the live store; but where the app vacuums that, SQLite may give the rows other ones, and then they are told as other rows.
    public let keyColumns: [ForeignText]
    /// In the new generation, and not in the one before.
    public let inserted: [ChangedRow]
    /// In both, with other values.
    public let updated: [ChangedRow]
    /// In the generation before, and not in the new one.
    public let deleted: [ChangedRow]

    var all: [ChangedRow] { inserted + updated + deleted }
}
