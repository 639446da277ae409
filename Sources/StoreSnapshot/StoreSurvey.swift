import CoreDataReading
import GRDB
package import ShipProtocol
import StoreFiles
import StoreFormat
package import SystemPackage

/// The facts that a live store states, read without a copy of it.
package struct StoreSurvey: Hashable, Sendable {
    /// The size of a page, in bytes.
    package let pageSize: Int
    package let textEncoding: StoreFacts.TextEncoding
    package let isInWALMode: Bool
    /// `Z_UUID` of a Core Data store.
    package let identity: ForeignText?
    /// SHA-256 of its schema: `Protocol/README.md` section 4.5.
    package let schemaSHA256: ContentDigest
    /// SHA-256 of its schema without the tables that this program keeps in it; `nil` if there are no others.
    package let schema: ContentDigest?
    /// The parts that it lacks by its mark.
    package let omissions: Omissions?
    /// The external files that it refers to, whether they are there or not; empty unless they were asked for.
    package let externalFiles: Set<ExternalFileName>
}

extension SourceStore {
    /// The journal mode by the header of a store, which SQLite may not be able to open; `nil` for a store of 0 bytes.
    ///
    /// - Throws: `.notADatabase`, `.truncated`, `.noSuchFile`, `.noPermission`.
    package static func isInWALMode(at path: FilePath) throws(SnapshotError) -> Bool? {
        try StoreHandle(path).header()?.isInWALMode
    }

    /// Whether the header of a store lets SQLite write to it.
    package static func isWritable(at path: FilePath) throws(SnapshotError) -> Bool {
        try StoreHandle(path).header()?.isWritable ?? true
    }

    /// Reads one committed state of the store, as any reader does. The store does not change.
    ///
    /// - Parameter externalFiles: Whether to find the external files, for which it reads every row. Without them it reads one page and the
    ///   schema, which keeps no writer waiting.
    package func survey(externalFiles: Bool = true) async throws(SnapshotError) -> StoreSurvey {
        try await look { try StoreSurvey($0, externalFiles: externalFiles) }
    }

    /// Runs SQLite's own check of the store itself: a copy has no damaged free list, and no damaged pointer maps.
    ///
    /// - Throws: `.corrupt`.
    package func check() async throws(SnapshotError) {
        try await look { try CopyContent.check($0, of: path) }
    }

    /// Most attempts on a store that changes during each of them, where it can only be read without locks.
    private static let attempts = 3

    /// Runs `body` on one committed state of the store.
    func look<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(SnapshotError) -> Value {
        try await Interruption.run { interruption throws(SnapshotError) in
            let watch = watch(interruption)
            func read(_ database: Database) throws -> Value {
                try database.execute(sql: "BEGIN")
                defer { database.endReadTransaction() }
                return try body(database)
            }
            if let held = watch.held {
                return try WatchedConnection(borrowing: held, of: path, watch: watch).read(read)
            }
            for _ in 1...Self.attempts {
                let sidecars = Sidecars(beside: path)
                defer { Sidecars.restore(sidecars, beside: path) }
                let access = try SourceAccess(to: path, sidecars: sidecars)
                let value = try WatchedConnection(address: access.address(of: path), of: path, watch: watch).read(read)
                if access.isStillValid(for: path) { return value }
            }
            throw .busy(path, waited: .zero)
        }
    }
}

extension StoreSurvey {
    fileprivate init(_ database: Database, externalFiles isWanted: Bool) throws {
        pageSize = try database.pragma("page_size") ?? 0
        textEncoding = try StoreFacts.TextEncoding(of: database)
        isInWALMode = try database.pragma("journal_mode") == "wal"
        schemaSHA256 = try CopyContent.schemaSHA256(of: database)
        let coreData = try CoreDataStore(database)
        identity = coreData?.identity
        let schema = try CopyContent.schema(of: database).filter {
            ![UserMetadataPlace.table, OmissionPlace.table].contains($0.tableName) && !$0.name.hasPrefix("sqlite_")
        }
        self.schema = schema.isEmpty ? nil : ContentDigest(hashing: SchemaEntry.listing(of: schema))
        omissions = try Omissions(markedIn: database)
        externalFiles =
            coreData == nil || !isWanted
            ? [] : Set(try ExternalFileReference.all(in: database).map(\.name))
    }
}

extension SourceStore {
    /// Everything that looks like a reference to an external file, whether Core Data made the store or not.
    package func references() async throws(SnapshotError) -> ReferringFile {
        try await look { database in
            let isCoreData = try CoreDataStore(database) != nil
            return .store(Set(try ExternalFileReference.all(in: database).map(\.name)), isCoreData: isCoreData)
        }
    }
}
