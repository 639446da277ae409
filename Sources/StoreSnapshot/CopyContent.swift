import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// What the copy itself says of what is in it, all but its digest.
struct CopyContent: Sendable {
    let pageSize: Int
    let pageCount: Int64
    let textEncoding: StoreFacts.TextEncoding
    let applicationID: Int32
    let userVersion: Int32
    let schemaSHA256: ContentDigest
    /// `nil` for a store that Core Data did not make.
    let coreData: CoreDataStore?
    let references: [ExternalFileReference]
    /// The user's own pairs.
    let metadata: [String: ForeignText]

    /// Bytes of the file.
    var size: Int64 { pageCount * Int64(pageSize) }

    init(of copy: FilePath, store: FilePath, watch: ConnectionWatch) throws(SnapshotError) {
        let connection = try WatchedConnection(address: copy.string, to: .read, of: store, watch: watch)
        self = try connection.read { try CopyContent($0) }
    }

    private init(_ database: Database) throws {
        func number<Value: DatabaseValueConvertible>(_ pragma: String, _: Value.Type) throws -> Value? {
            try Value.fetchOne(database, sql: "PRAGMA \(pragma)")
        }
        pageSize = try number("page_size", Int.self) ?? 0
        pageCount = try number("page_count", Int64.self) ?? 0
        textEncoding = try number("encoding", String.self).flatMap(StoreFacts.TextEncoding.init) ?? .utf8
        applicationID = try number("application_id", Int32.self) ?? 0
        userVersion = try number("user_version", Int32.self) ?? 0
        schemaSHA256 = try Self.schemaSHA256(of: database)
        coreData = try CoreDataStore(database)
        metadata = try UserMetadata.pairs(in: database, of: coreData)
        references = coreData == nil ? [] : try ExternalReferences.all(in: database)
    }

    /// What the entries of its indexes are made of, by the names of the indexes.
    static func indexShapes(
        of copy: FilePath, _ store: FilePath, _ watch: ConnectionWatch
    ) throws(SnapshotError) -> [String: IndexShape] {
        let connection = try WatchedConnection(address: copy.string, to: .read, of: store, watch: watch)
        return try connection.read { try IndexShapes.all(in: $0) }
    }

    static func schemaSHA256(of database: Database) throws -> ContentDigest {
        ContentDigest(hashing: SchemaListing.bytes(of: try schema(of: database)))
    }

    static func schema(of database: Database) throws -> [SchemaListing.Entry] {
        try Row.fetchAll(database, sql: "SELECT type, name, tbl_name, sql FROM sqlite_master").map { row in
            let texts = Array(row.databaseValues).map { String.fromDatabaseValue($0) ?? "" }
            return SchemaListing.Entry(type: texts[0], name: texts[1], tableName: texts[2], sql: texts[3])
        }
    }

    /// SQLite's own check of the copy.
    ///
    /// Where `quick_check` complains, `integrity_check` has the last word, which looks at all that it looks at: that of SQLite 3.40.1
    /// takes the values of a table WITHOUT ROWID for NULL if its key has the columns in another order than the table has.
    ///
    /// - Throws: `.corrupt` with the first complaints: they are about the source, whose rows have been taken as they are.
    static func quickCheck(_ copy: FilePath, store: FilePath, watch: ConnectionWatch) throws(SnapshotError) {
        let connection = try WatchedConnection(address: copy.string, to: .read, of: store, watch: watch)
        let complaints = try connection.read { database in
            func complaints(by pragma: String) throws -> [String] {
                try String.fetchAll(database, sql: "PRAGMA \(pragma)(\(mostComplaints))")
            }
            let quick = try complaints(by: "quick_check")
            return quick == ["ok"] ? quick : try complaints(by: "integrity_check")
        }
        guard complaints == ["ok"] else { throw .corrupt(store, complaints: complaints.map { ForeignText($0) }) }
    }

    /// Most complaints to report: more do not help anybody.
    private static let mostComplaints = 10
}
