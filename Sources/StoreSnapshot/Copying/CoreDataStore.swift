import CoreDataReading
import EssentialFoundation
import GRDB
import ShipProtocol

/// The facts that a store of Core Data states in `Z_METADATA`.
struct CoreDataStore: Sendable {
    /// `Z_UUID`: the same in every copy of the store.
    let identity: ForeignText?
    let facts: Manifest.CoreDataFacts
    let propertyList: CoreDataPropertyList

    /// - Returns: `nil` for a store that Core Data did not make.
    init?(_ database: Database) throws {
        let isCoreData = try CoreDataLayout.isSignature { table in
            try database.tableExists(table) ? database.columns(in: table).map(\.name) : nil
        }
        guard isCoreData else { return nil }
        let row = try Row.fetchOne(database, sql: "SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1")
        let values = row.map { Array($0.databaseValues) } ?? [.null, .null]
        identity = String.fromDatabaseValue(values[0]).map { ForeignText($0) }.flatMap { $0.isLabel ? $0 : nil }
        propertyList = CoreDataPropertyList(Array(Data.fromDatabaseValue(values[1]) ?? Data()))
        facts = Manifest.CoreDataFacts(entityVersionHashes: propertyList.entityVersionHashes)
    }
}
