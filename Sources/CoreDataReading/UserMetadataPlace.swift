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
