import CoreDataReading
import EssentialFoundation
import GRDB
import ShipProtocol
import StoreFiles
package import SystemPackage

/// Sets the user's own pairs in a live store, in one transaction, as any other writer.
///
/// Where they are kept: `UserMetadataPlace`.
package struct MetadataWriter: Sendable {
    private let store: FilePath
    private let busyHandler: BusyHandler

    /// - Parameter store: A store that is there.
    package init(for store: FilePath, _ busyHandler: BusyHandler) {
        self.store = store
        self.busyHandler = busyHandler
    }

    /// - Parameters:
    ///   - set: Pairs to add, or to give another value.
    ///   - removed: Keys to remove; those that are not there do not matter.
    /// - Throws: `.badMetadata`, `.tableIsTaken`, `.unreadablePropertyList`, `.damagedOrEncrypted`, and what else writing to a store may
    ///   throw; of a sync `.file`: then the pairs are set, and a power cut may take them back.
    package func write(set: [String: String], removing removed: Set<String>) throws(OperationError) {
        try StoreHome(store).refuseStrangeSidecars()
        do {
            let queue = try DatabaseQueue(path: store.writableDatabaseURI, configuration: configuration)
            defer { try? queue.close() }
            try queue.writeWithoutTransaction { database in
                try database.tellingRefusals(around: store) {
                    try database.inTransaction(.immediate) {
                        if try Self.isCoreData(database) {
                            try write(set, removed, intoPropertyListOf: database)
                        } else {
                            try Self.write(set, removed, intoTableOf: database)
                        }
                        return .commit
                    }
                }
                // Also where nothing has changed: who made it so may have been killed before the sync.
                try StoreHome(store).makeDurable()
            }
        } catch {
            switch OperationError(error, on: store, busyHandler) {
            case .corrupt(_, let complaint): throw .damagedOrEncrypted(store, complaint: complaint)
            case .sqlite(let code, let complaint) where OperationError.isDamage(sqlite: code):
                throw .damagedOrEncrypted(store, complaint: complaint)
            case let error: throw error
            }
        }
    }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.acceptsDoubleQuotedStringLiterals = true
        configuration.prepareDatabase { [store] database in try database.lookFirst(at: store) }
        // All waits share one deadline.
        let deadline = ContinuousClock.now + busyHandler.busyTimeout
        configuration.busyMode = .callback { [busyHandler] tries in
            ContinuousClock.now < deadline && busyHandler.waits(tries: tries)
        }
        return configuration
    }

    private static func isCoreData(_ database: Database) throws -> Bool {
        try CoreDataLayout.isSignature { table in
            try database.tableExists(table) ? database.columns(in: table).map(\.name) : nil
        }
    }

    /// All that is in the property list beside our own key stays.
    private func write(_ set: [String: String], _ removed: Set<String>, intoPropertyListOf database: Database) throws {
        let key = UserMetadataPlace.propertyListKey
        guard let row = try Row.fetchOne(database, sql: "SELECT rowid, Z_PLIST FROM Z_METADATA LIMIT 1"),
            let rowid = Int64.fromDatabaseValue(row[0]), let bytes = Data.fromDatabaseValue(row[1]),
            var list = EditablePropertyList(Array(bytes))
        else { throw OperationError.unreadablePropertyList(store) }
        let before = CoreDataPropertyList(Array(bytes)).userPairs
        var pairs = before
        removed.forEach { pairs[$0] = nil }
        pairs.merge(set.mapValues { ForeignText($0) }) { _, new in new }
        if let flaw = Manifest.firstFlaw(ofMetadata: pairs) { throw OperationError.badMetadata(flaw) }
        guard pairs != before else { return }
        list.set(pairs.isEmpty ? nil : .dictionary(pairs.mapValues { .string($0.unescaped) }), for: key)
        let changed = list.bytes
        // One at the limits may be beyond them with more in it.
        guard CoreDataPropertyList(changed).userPairs == pairs else {
            throw OperationError.unreadablePropertyList(store)
        }
        try database.execute(
            sql: "UPDATE Z_METADATA SET Z_PLIST = ? WHERE rowid = ?", arguments: [Data(changed), rowid])
    }

    private static func write(_ set: [String: String], _ removed: Set<String>, intoTableOf database: Database) throws {
        let table = UserMetadataPlace.table
        if try database.tableExists(table) {
            guard try Set(database.columns(in: table).map(\.name)) == Set(UserMetadataPlace.columns) else {
                throw OperationError.tableIsTaken(table)
            }
        } else {
            guard !set.isEmpty else { return }
            try database.execute(sql: UserMetadataPlace.definition)
        }
        for key in removed { try database.execute(sql: "DELETE FROM \(table) WHERE key = ?", arguments: [key]) }
        for (key, value) in set {
            try database.execute(
                sql:
                    "INSERT INTO \(table)(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                arguments: [key, value])
        }
        let rows = try Row.fetchAll(
            database, sql: "SELECT key, value FROM \(table) LIMIT ?", arguments: [Limits.metadataPairs + 1])
        guard !rows.isEmpty else { return try removeTable(from: database) }
        let pairs = rows.compactMap { row -> (String, String)? in
            // Other programs may have put something there that is no text.
            guard let key = String.fromDatabaseValue(row[0]), let value = String.fromDatabaseValue(row[1]) else {
                return nil
            }
            return (key, value)
        }
        try check(Dictionary(pairs) { first, _ in first })
    }

    /// The empty table goes if it is as this program makes it, and nothing else in the schema speaks of it.
    private static func removeTable(from database: Database) throws {
        let table = UserMetadataPlace.table
        let definitions = try String.fetchAll(
            database, sql: "SELECT sql FROM sqlite_schema WHERE sql LIKE '%' || ? || '%'", arguments: [table])
        guard definitions == [UserMetadataPlace.definition] else { return }
        try database.execute(sql: "DROP TABLE \(table)")
    }

    private static func check(_ pairs: [String: String]) throws {
        if let flaw = Manifest.firstFlaw(ofMetadata: pairs.mapValues { ForeignText($0) }) {
            throw OperationError.badMetadata(flaw)
        }
    }
}
