import CoreDataReading
import GRDB
import ShipProtocol
import StoreFormat

/// The user's own pairs, as a store keeps them.
enum UserMetadata {
    /// - Parameter coreData: What the store says of itself, if Core Data made it.
    static func pairs(in database: Database, of coreData: CoreDataStore?) throws -> [String: ForeignText] {
        if let coreData { return valid(coreData.propertyList.userPairs) }
        let columns = try Set(
            String.fetchAll(
                database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [UserMetadataPlace.table]))
        guard columns.isSuperset(of: UserMetadataPlace.columns) else { return [:] }
        // No more than can be meant; what is longer than a value may be is not even loaded.
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT key, value FROM \(UserMetadataPlace.table)
                WHERE typeof(key) = 'text' AND typeof(value) = 'text'
                    AND length(key) <= \(Limits.metadataKeyLength) AND length(value) <= \(Limits.metadataValueLength)
                ORDER BY key LIMIT \(Limits.metadataPairs)
                """)
        return valid(
            Dictionary(rows.map { ($0["key"] as String, ForeignText($0["value"] as String)) }) { first, _ in first })
    }

    /// The pairs that a manifest can have: others were not made by this program, and are not its affair.
    static func valid(_ pairs: [String: ForeignText]) -> [String: ForeignText] {
        let valid = pairs.filter { Metadata.firstFlaw(of: [$0.key: $0.value]) == nil }
        let first = valid.sorted { $0.key < $1.key }.prefix(Limits.metadataPairs)
        return Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
    }
}
