import GRDB
package import ShipProtocol
import StoreFiles
import SystemPackage

/// What a live store says of itself, found out without a copy of it.
package struct StoreSurvey: Hashable, Sendable {
    /// Bytes a page.
    package let pageSize: Int
    package let textEncoding: StoreFacts.TextEncoding
    package let isInWALMode: Bool
    /// `Z_UUID` of a Core Data store.
    package let identity: String?
    /// Of its schema: `Protocol/README.md` section 4.5.
    package let schemaSHA256: ContentDigest
    /// The external files that it refers to, whether they are there or not.
    package let externalFiles: Set<ExternalFileName>
}

extension SourceStore {
    /// Looks at one committed state of the store, as any reader; nothing about it changes.
    package func survey() async throws(SnapshotError) -> StoreSurvey { try await look { try StoreSurvey($0) } }

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
    fileprivate init(_ database: Database) throws {
        pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        textEncoding =
            try String.fetchOne(database, sql: "PRAGMA encoding").flatMap(StoreFacts.TextEncoding.init) ?? .utf8
        isInWALMode = try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
        schemaSHA256 = try CopyContent.schemaSHA256(of: database)
        let coreData = try CoreDataStore(database)
        identity = coreData?.identity
        externalFiles = coreData == nil ? [] : Set(try ExternalReferences.all(in: database).map(\.name))
    }
}
