/// The tables by which Core Data keeps a store, beside those of the entities.
///
/// Source: stores as Core Data makes them; the format has no public description.
package enum CoreDataLayout {
    /// What every store has, with the columns that tell these tables from others of their names.
    package static let signature = [
        "Z_METADATA": ["Z_VERSION", "Z_UUID", "Z_PLIST"], "Z_PRIMARYKEY": ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"],
    ]
    /// Without whose rows no store opens, or its next object gets a key that another one had.
    package static let bookkeeping: Set<String> = ["Z_METADATA", "Z_PRIMARYKEY", modelCache]
    /// The model with which the store was made, of which a migration begins.
    package static let modelCache = "Z_MODELCACHE"
    /// What is emptied to leave the history out. The keys go on from `Z_PRIMARYKEY.Z_MAX`, which stays, so that no token
    /// ever comes again; the texts of `ATRANSACTIONSTRING` stay too, which later transactions refer to anew.
    package static let history = ["ACHANGE", transactions]
    /// Whose newest key is the history's token.
    package static let transactions = "ATRANSACTION"
    package static let historyTables: Set<String> = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
}
