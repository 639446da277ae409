/// Where a copy keeps its mark, which says what it lacks, also when the copy is moved away from its manifest: a table of this
/// program, which apps and Core Data leave alone.
///
/// A property list would do only for Core Data stores; and any SQLite tool reads a table.
package enum OmissionPlace {
    package static let table = "ship_store_omissions"
    package static let columns = ["kind", "name", "bytes"]
    package static let definition = """
        CREATE TABLE \(table)(kind TEXT NOT NULL, name TEXT NOT NULL, bytes INTEGER, PRIMARY KEY (kind, name)) WITHOUT ROWID
        """

    /// The values of the column `kind`.
    package enum Kind: String, Hashable, Sendable {
        /// Core Data's persistent history; the name is empty.
        case history
        /// The rows of a table.
        case table
        /// An external file, by its path in the support folder, with its size in bytes.
        case externalFile = "external file"
    }
}
