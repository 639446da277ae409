import EssentialFoundation
package import ShipProtocol

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

/// Where a store keeps the user's own pairs, which go with its copies.
package enum UserMetadataPlace {
    /// In a Core Data store: the key of a dictionary in `Z_METADATA.Z_PLIST`, beside which Core Data keeps its own, and
    /// where `NSPersistentStoreCoordinator.setMetadata(_:for:)` puts those of the app.
    package static let propertyListKey = "ShipStoreMetadata"
    /// In any other store: a table.
    package static let table = "ship_store_metadata"
    package static let columns = ["key", "value"]
    package static let definition = "CREATE TABLE \(table)(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"
}

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

/// The entries of `Z_METADATA.Z_PLIST` that have the right form. Others count as missing: a consumer that compares the model finds
/// the difference.
package struct CoreDataPropertyList: Sendable {
    /// Entity name to hash, 32 bytes, in base64.
    package let entityVersionHashes: [ForeignText: String]
    package let modelVersionIdentifiers: [ForeignText]
    package let storeType: ForeignText?
    /// The version of the framework that wrote the store last.
    package let frameworkVersion: Int?
    package let versionHashesDigest: ForeignText?
    package let modelChecksum: ForeignText?
    /// The user's own pairs, whether they can be shipped or not.
    package let userPairs: [String: ForeignText]

    /// - Parameter bytes: An untrusted property list.
    package init(_ bytes: [UInt8]) {
        let root = PropertyListValue(bytes)?.dictionary ?? [:]
        entityVersionHashes = Self.versionHashes(in: root)
        modelVersionIdentifiers = root["NSStoreModelVersionIdentifiers"]?.array?.compactMap(Self.text) ?? []
        storeType = root["NSStoreType"].flatMap(Self.text)
        frameworkVersion = root["NSPersistenceFrameworkVersion"]?.integer
        versionHashesDigest = root["NSStoreModelVersionHashesDigest"].flatMap(Self.text)
        modelChecksum = root["NSStoreModelVersionChecksumKey"].flatMap(Self.text)
        userPairs = (root[UserMetadataPlace.propertyListKey]?.dictionary ?? [:]).compactMapValues(Self.text)
    }

    private static func text(_ value: PropertyListValue) -> ForeignText? { value.string.map { ForeignText($0) } }

    private static func versionHashes(in root: [String: PropertyListValue]) -> [ForeignText: String] {
        guard let hashes = root["NSStoreModelVersionHashes"]?.dictionary, hashes.count <= Limits.entities else {
            return [:]
        }
        let pairs = hashes.compactMap { name, value -> (ForeignText, String)? in
            guard let hash = value.data, hash.count == 32, ForeignText(name).isLabel else { return nil }
            return (ForeignText(name), Data(hash).base64EncodedString())
        }
        return Dictionary(pairs) { first, _ in first }
    }
}

extension String {
    /// The name of a table or a column as SQL takes it: a name may be any text, one with quotes in it too.
    ///
    /// Source: sqlite.org/lang_keywords.html. GRDB's `quotedDatabaseIdentifier` leaves quotes within a name as they are.
    package var quotedSQLName: String {
        "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
