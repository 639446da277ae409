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

/// The tables by which this program keeps something in a store of somebody else's.
package enum OwnTables {
    package static let names: Set<String> = [UserMetadataPlace.table, OmissionPlace.table]
}
