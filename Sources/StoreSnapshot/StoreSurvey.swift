import CoreDataReading
import GRDB
package import ShipProtocol
import StoreFiles
package import StoreFormat
package import SystemPackage

/// What a live store says of itself, found out without a copy of it.
package struct StoreSurvey: Hashable, Sendable {
    /// Bytes a page.
    package let pageSize: Int
    package let textEncoding: StoreFacts.TextEncoding
    package let isInWALMode: Bool
    /// `Z_UUID` of a Core Data store.
    package let identity: ForeignText?
    /// Of its schema: `Protocol/README.md` section 4.5.
    package let schemaSHA256: ContentDigest
    /// SHA-256 of its schema without the tables that this program keeps in it; `nil` if there are no others.
    package let schema: ContentDigest?
    /// What it says that it came without.
    package let omissions: Omissions?
    /// The external files that it refers to, whether they are there or not; empty unless they were asked for.
    package let externalFiles: Set<ExternalFileName>

    /// What is to be found out.
    package enum Reach: Hashable, Sendable {
        /// What one page and the schema tell: nobody who writes has to wait for that.
        case facts
        /// All of it, for which every row is looked at.
        case everything
    }
}

extension SourceStore {
    /// How a store that SQLite may not be able to open keeps its transactions, as its header says; `nil` for one of 0 bytes.
    ///
    /// - Throws: `.notADatabase`, `.truncated`, `.noSuchFile`, `.noPermission`.
    package static func journalMode(of path: FilePath) throws(SnapshotError) -> DatabaseHeader.JournalMode? {
        try StoreHandle(path, for: .reading).header()?.journalMode
    }

    /// Looks at one committed state of the store, as any reader; nothing about it changes.
    ///
    /// - Parameter reach: What is to be found out.
    package func survey(_ reach: StoreSurvey.Reach = .everything) async throws(SnapshotError) -> StoreSurvey {
        try await look { try StoreSurvey($0, reach) }
    }

    /// Runs `body` on one committed state of the store.
    func look<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SnapshotError) -> Value {
        try await Interruption.run { interruption throws(SnapshotError) in
            let watch = watch(interruption)
            func read(_ database: Database) throws -> Value {
                try database.execute(sql: "BEGIN")
                defer { try? database.execute(sql: "COMMIT") }
                return try body(database)
            }
            if let held = watch.held {
                return try WatchedConnection(borrowing: held, of: path, watch: watch).read(read)
            }
            let sidecars = Sidecars(beside: path)
            defer { Sidecars.restore(sidecars, beside: path) }
            let address = try SourceAccess(to: path, sidecars: sidecars).address(of: path)
            return try WatchedConnection(address: address, to: .read, of: path, watch: watch).read(read)
        }
    }
}

extension StoreSurvey {
    fileprivate init(_ database: Database, _ reach: Reach) throws {
        pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        textEncoding =
            try String.fetchOne(database, sql: "PRAGMA encoding").flatMap(StoreFacts.TextEncoding.init) ?? .utf8
        isInWALMode = try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
        schemaSHA256 = try CopyContent.schemaSHA256(of: database)
        let coreData = try CoreDataStore(database)
        identity = coreData?.identity
        let schema = try CopyContent.schema(of: database).filter {
            !OwnTables.names.contains($0.tableName) && !$0.name.hasPrefix("sqlite_")
        }
        self.schema = schema.isEmpty ? nil : ContentDigest(hashing: SchemaListing.bytes(of: schema))
        omissions = try OmissionMark.read(database)
        externalFiles =
            coreData == nil || reach == .facts
            ? [] : Set(try ExternalReferences.all(in: database).map(\.name))
    }
}
