import CoreDataReading
import GRDB
public import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// The facts that a store states, read from the live store without disturbing it.
public struct StoreMetadata: Hashable, Sendable, Encodable {
    /// The identity, which stays the same in every copy: `Z_UUID` of a Core Data store.
    public let identity: ForeignText?
    /// `nil` for a store that Core Data did not make.
    public let coreData: CoreData?
    /// The newest transaction of Core Data's persistent history, `Z_PK`: it rises with each change that is tracked.
    public let historyToken: Int64?
    public let sqlite: SQLite
    /// The user's own pairs, which travel with copies and shipments.
    public let metadata: [String: ForeignText]

    /// From `Z_METADATA.Z_PLIST`, as far as it is there.
    public struct CoreData: Hashable, Sendable, Encodable {
        public let storeType: ForeignText?
        public let modelVersionIdentifiers: [ForeignText]
        /// Entity name to the 32 bytes of its version hash, in base64.
        public let entityVersionHashes: [ForeignText: String]
        /// `NSStoreModelVersionHashesDigest`.
        public let versionHashesDigest: ForeignText?
        /// `NSStoreModelVersionChecksumKey`.
        public let modelChecksum: ForeignText?
        /// `NSPersistenceFrameworkVersion`, of the system that wrote the store last.
        public let frameworkVersion: Int?
    }

    /// The facts of SQLite's header and pragmas.
    public struct SQLite: Hashable, Sendable, Encodable {
        /// The sizes of the file and of its `-wal`, in bytes.
        public let size: Int64
        public let logSize: Int64
        /// The size of a page, in bytes.
        public let pageSize: Int
        /// The pages of the store, with those in the `-wal`, and how many of them are free.
        public let pageCount: Int64
        public let freePages: Int64
        public let textEncoding: StoreFacts.TextEncoding
        public let applicationID: Int32
        public let userVersion: Int32
        public let autoVacuum: AutoVacuum
        public let journal: Journal

        public enum AutoVacuum: String, Hashable, Sendable, Encodable {
            case none, full, incremental
        }

        /// The journal mode in the file's header. Each connection chooses its own kind of rollback journal.
        public enum Journal: String, Hashable, Sendable, Encodable {
            case rollback
            case writeAheadLog = "wal"
        }
    }
}

extension SourceStore {
    /// Reads what the store says of itself, as one reader among others. It changes nothing, and leaves nothing beside the store.
    ///
    /// - Throws: As `compactCopy`, where the store cannot be read.
    package func metadata() async throws(SnapshotError) -> StoreMetadata {
        try await look { database in
            let coreData = try CoreDataStore(database)
            let hasHistory = try coreData != nil && database.tableExists(CoreDataLayout.transactions)
            return StoreMetadata(
                identity: coreData?.identity, coreData: coreData.map { StoreMetadata.CoreData($0.propertyList) },
                historyToken: hasHistory
                    ? try Int64.fetchOne(database, sql: "SELECT max(Z_PK) FROM \(CoreDataLayout.transactions)") : nil,
                sqlite: try StoreMetadata.SQLite(database, at: path),
                metadata: try UserMetadataPlace.pairs(in: database, of: coreData))
        }
    }
}

extension StoreMetadata.CoreData {
    fileprivate init(_ propertyList: CoreDataPropertyList) {
        self.init(
            storeType: propertyList.storeType, modelVersionIdentifiers: propertyList.modelVersionIdentifiers,
            entityVersionHashes: propertyList.entityVersionHashes,
            versionHashesDigest: propertyList.versionHashesDigest, modelChecksum: propertyList.modelChecksum,
            frameworkVersion: propertyList.frameworkVersion)
    }
}

extension StoreMetadata.SQLite {
    fileprivate init(_ database: Database, at path: FilePath) throws {
        let autoVacuum: Int? = try database.pragma("auto_vacuum")
        self.init(
            size: try PlatformCalls.status(of: path).size,
            logSize: (try? PlatformCalls.status(of: Sidecars.log(of: path)).size) ?? 0,
            pageSize: try database.pragma("page_size") ?? 0, pageCount: try database.pragma("page_count") ?? 0,
            freePages: try database.pragma("freelist_count") ?? 0,
            textEncoding: try StoreFacts.TextEncoding(of: database),
            applicationID: try database.pragma("application_id") ?? 0,
            userVersion: try database.pragma("user_version") ?? 0,
            autoVacuum: autoVacuum == 1 ? .full : autoVacuum == 2 ? .incremental : .none,
            journal: try SourceStore.isInWALMode(at: path) == true ? .writeAheadLog : .rollback)
    }
}

extension UserMetadataPlace {
    /// Reads the user's own pairs.
    ///
    /// - Parameter coreData: What the store says of itself, if Core Data made it.
    static func pairs(in database: Database, of coreData: CoreDataStore?) throws -> [String: ForeignText] {
        if let coreData { return valid(coreData.propertyList.userPairs) }
        let columns = try Set(
            String.fetchAll(
                database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [UserMetadataPlace.table]))
        guard columns.isSuperset(of: UserMetadataPlace.columns) else { return [:] }
        // SQLite does not load what is longer than a value may be.
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

    /// The pairs that a manifest can have. This program has not made any others, and leaves them alone.
    private static func valid(_ pairs: [String: ForeignText]) -> [String: ForeignText] {
        let valid = pairs.filter { Manifest.firstFlaw(ofMetadata: [$0.key: $0.value]) == nil }
        let first = valid.sorted { $0.key < $1.key }.prefix(Limits.metadataPairs)
        return Dictionary(uniqueKeysWithValues: first.map { ($0.key, $0.value) })
    }
}
