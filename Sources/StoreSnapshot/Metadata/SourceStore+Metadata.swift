import CoreDataReading
import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

extension SourceStore {
    /// Reads what the store says of itself, as one reader among others; nothing is changed, and nothing left beside it.
    ///
    /// - Throws: As `compactCopy`, where the store cannot be read.
    package func metadata() async throws(SnapshotError) -> StoreMetadata {
        try await Interruption.run { interruption throws(SnapshotError) in
            let watch = ConnectionWatch(interruption: interruption, busyTimeout: busyTimeout)
            for _ in 1...Self.attempts {
                let sidecars = Sidecars(beside: path)
                defer { Sidecars.restore(sidecars, beside: path) }
                let access = try SourceAccess(to: path, sidecars: sidecars)
                let metadata = try read(access, watch)
                if access.isStillValid(for: path) { return metadata }
            }
            throw .busy(path, waited: .zero)
        }
    }

    /// Most looks at a store that changes under each of them, where it can only be read without locks.
    private static let attempts = 3

    private func read(_ access: SourceAccess, _ watch: ConnectionWatch) throws(SnapshotError) -> StoreMetadata {
        let header = try StoreHandle(path, for: .reading).header()
        let connection = try WatchedConnection(address: access.address(of: path), to: .read, of: path, watch: watch)
        return try connection.read { database in
            // One state of it.
            try database.execute(sql: "BEGIN")
            defer { try? database.execute(sql: "COMMIT") }
            let coreData = try CoreDataStore(database)
            let hasHistory = try coreData != nil && database.tableExists(CoreDataLayout.transactions)
            return StoreMetadata(
                identity: coreData?.identity, coreData: coreData.map { StoreMetadata.CoreData($0.propertyList) },
                historyToken: hasHistory
                    ? try Int64.fetchOne(database, sql: "SELECT max(Z_PK) FROM \(CoreDataLayout.transactions)") : nil,
                sqlite: try StoreMetadata.SQLite(database, at: path, header),
                metadata: try UserMetadata.pairs(in: database, of: coreData))
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
    fileprivate init(_ database: Database, at path: FilePath, _ header: DatabaseHeader?) throws {
        func number<Value: DatabaseValueConvertible>(_ pragma: String, _: Value.Type) throws -> Value? {
            try Value.fetchOne(database, sql: "PRAGMA \(pragma)")
        }
        let autoVacuum = try number("auto_vacuum", Int.self)
        self.init(
            size: try PlatformCalls.status(of: path).size,
            logSize: (try? PlatformCalls.status(of: Sidecars.log(of: path)).size) ?? 0,
            pageSize: try number("page_size", Int.self) ?? 0, pageCount: try number("page_count", Int64.self) ?? 0,
            freePages: try number("freelist_count", Int64.self) ?? 0,
            textEncoding: try number("encoding", String.self).flatMap(StoreFacts.TextEncoding.init) ?? .utf8,
            applicationID: try number("application_id", Int32.self) ?? 0,
            userVersion: try number("user_version", Int32.self) ?? 0,
            autoVacuum: autoVacuum == 1 ? .full : autoVacuum == 2 ? .incremental : .none,
            journal: header?.journalMode == .writeAheadLog ? .writeAheadLog : .rollback)
    }
}
