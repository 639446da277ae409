/// The tables of a Core Data store, beside those of the entities.
///
/// Source: stores as Core Data makes them; the format has no public description.
package enum CoreDataLayout {
    /// The tables that every store has, with the columns that tell them from other tables of these names.
    package static let signature = [
        "Z_METADATA": ["Z_VERSION", "Z_UUID", "Z_PLIST"], "Z_PRIMARYKEY": ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"],
    ]
    /// Whether a store has the tables and columns of `signature`.
    ///
    /// - Parameter columns: Names the columns of a table; `nil` if there is no such table.
    package static func isSignature<Failure: Error>(
        columns: (String) throws(Failure) -> [String]?
    ) throws(Failure) -> Bool {
        for (table, expected) in signature {
            guard let found = try columns(table), Set(found).isSuperset(of: expected) else { return false }
        }
        return true
    }

    /// Tables whose rows must stay: without them Core Data opens no store, or gives an old key to a new object.
    package static let bookkeeping: Set<String> = ["Z_METADATA", "Z_PRIMARYKEY", modelCache]
    /// The model with which the store was made, from which a migration begins.
    package static let modelCache = "Z_MODELCACHE"
    /// The tables that are emptied to leave the history out. New keys follow `Z_PRIMARYKEY.Z_MAX`, which stays: so no history
    /// token repeats. The texts of `ATRANSACTIONSTRING` stay too, because later transactions refer to them.
    package static let history = ["ACHANGE", transactions]
    /// The table whose newest key is the history token.
    package static let transactions = "ATRANSACTION"
    package static let historyTables: Set<String> = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
}

extension String {
    /// The name of a table or a column as SQL takes it: a name may be any text, one with quotes in it too.
    ///
    /// Source: sqlite.org/lang_keywords.html. GRDB's `quotedDatabaseIdentifier` leaves quotes within a name as they are.
    package var quotedSQLName: String {
        "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
