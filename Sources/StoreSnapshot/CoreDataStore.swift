import Foundation
import GRDB
import ShipProtocol
import StoreFormat

/// What a store that Core Data made says of itself in `Z_METADATA`.
struct CoreDataStore: Sendable {
    /// `Z_UUID`: the same in every copy of the store.
    let identity: String?
    let facts: Manifest.CoreDataFacts

    /// - Returns: `nil` for a store that Core Data did not make.
    init?(_ database: Database) throws {
        for (table, columns) in CoreDataLayout.signature {
            guard try database.tableExists(table) else { return nil }
            let names = try Set(database.columns(in: table).map(\.name))
            guard names.isSuperset(of: columns) else { return nil }
        }
        let row = try Row.fetchOne(database, sql: "SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1")
        let values = row.map { Array($0.databaseValues) } ?? [.null, .null]
        identity = String.fromDatabaseValue(values[0]).flatMap { uuid in
            (1...Limits.labelLength).contains(uuid.utf8.count) ? uuid : nil
        }
        facts = Manifest.CoreDataFacts(
            entityVersionHashes: Data.fromDatabaseValue(values[1]).map(Self.versionHashes) ?? [:])
    }

    /// Entity name to hash in base64, as far as the property list has any of the right form: what it does not say, the
    /// manifest does not claim, and a consumer that compares the model finds the difference.
    private static func versionHashes(in propertyList: Data) -> [String: String] {
        guard let root = try? PropertyListSerialization.propertyList(from: propertyList, format: nil),
            let hashes = (root as? [String: Any])?["NSStoreModelVersionHashes"] as? [String: Any],
            hashes.count <= Limits.entities
        else { return [:] }
        return hashes.compactMapValues { ($0 as? Data).flatMap { $0.count == 32 ? $0.base64EncodedString() : nil } }
            .filter { (1...Limits.labelLength).contains($0.key.utf8.count) }
    }
}
