import CoreDataReading
import EssentialFoundation
import GRDB
import ShipProtocol

/// The names of a Core Data store's rows outside of it: its UUID, and the names of its entities.
///
/// Source: developer.apple.com/documentation/coredata/nsmanagedobjectid/uriRepresentation(), and stores as Core Data makes them.
struct ObjectNames {
    /// Most entities that are looked at.
    private static let mostEntities = Limits.entities

    let store: UUID
    private let entities: [Int64: ForeignText]

    /// - Returns: `nil` for a store that Core Data did not make.
    init?(of store: ComparedStore) throws {
        guard CoreDataLayout.signature.keys.allSatisfy(store.hasTable) else { return nil }
        let found = try store.read { database -> (uuid: String?, entities: [(Int64, String)])? in
            let isCoreData = try CoreDataLayout.isSignature { table in
                try Row.fetchAll(database, sql: "PRAGMA table_info(\(table.quotedSQLName))")
                    .compactMap { String.fromDatabaseValue($0["name"]) }
            }
            guard isCoreData else { return nil }
            let names = try Row.fetchAll(
                database, sql: "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY LIMIT ?", arguments: [Self.mostEntities])
            return (
                try String.fetchOne(
                    database, sql: "SELECT Z_UUID FROM Z_METADATA WHERE typeof(Z_UUID) = 'text' LIMIT 1"),
                names.compactMap { row in
                    guard let number = Int64.fromDatabaseValue(row[0]), let name = String.fromDatabaseValue(row[1])
                    else { return nil }
                    return (number, name)
                }
            )
        }
        guard let found, let uuid = found.uuid.flatMap({ UUID(uuidString: $0) }) else { return nil }
        self.store = uuid
        entities = Dictionary(
            found.entities.map { ($0, ForeignText($1)) }.filter { $1.isLabel }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the rows of a table can be objects of the app's.
    static func canBeObjects(_ table: ForeignText) -> Bool {
        let name = table.unescaped
        return !CoreDataLayout.bookkeeping.contains(name) && !CoreDataLayout.historyTables.contains(name)
    }

    /// - Parameters:
    ///   - entity: `Z_ENT` of a row.
    ///   - key: Its `Z_PK`.
    func object(_ entity: Int64, key: Int64) -> (entity: ForeignText, id: URL)? {
        guard let name = entities[entity], let id = Self.id(store, name.unescaped, key) else { return nil }
        return (name, id)
    }

    private static func id(_ store: UUID, _ entity: String, _ key: Int64) -> URL? {
        let name = String(percentEncoding: entity.utf8)
        return URL(string: "x-coredata://\(store.uuidString)/\(name)/p\(key)")
    }
}
