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

/// The tables by which this program keeps something in a store of somebody else's.
package enum OwnTables {
    package static let names: Set<String> = [UserMetadataPlace.table, OmissionPlace.table]
}

/// Where a store keeps the user's own pairs, which travel with its copies.
package enum UserMetadataPlace {
    /// In a Core Data store: the key of a dictionary in `Z_METADATA.Z_PLIST`, beside which Core Data keeps its own, and
    /// where `NSPersistentStoreCoordinator.setMetadata(_:for:)` puts those of the app.
    package static let propertyListKey = "ShipStoreMetadata"
    /// In any other store: a table.
    package static let table = "ship_store_metadata"
    package static let columns = ["key", "value"]
    package static let definition = "CREATE TABLE \(table)(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
}

/// Where a copy that came without something says so itself, so that it is still known when the copy has been moved away
/// from whatever else says it: a table of this program's own, which apps and Core Data leave alone.
///
/// A property list of Core Data's would do too, but not for other stores; and what is in a table can be read by anybody.
package enum OmissionPlace {
    package static let table = "ship_store_omissions"
    package static let columns = ["kind", "name", "bytes"]
    package static let definition = """
        CREATE TABLE \(table)(kind TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER, PRIMARY KEY (kind, name)) WITHOUT ROWID
        """

    /// What is in the column `kind`.
    package enum Kind: String, Hashable, Sendable {
        /// Core Data's persistent history; the name is empty.
        case history
        /// The rows of a table.
        case table
        /// An external file, by its path in the support folder, with its size in bytes.
        case externalFile = "external file"
    }
}
