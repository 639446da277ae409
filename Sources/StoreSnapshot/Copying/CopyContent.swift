import CoreDataReading
import GRDB
import ShipProtocol
import StoreFiles
import StoreFormat
import SystemPackage

/// The facts that a copy states, except for its digest.
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
    /// The shapes of its indexes, by the names of the indexes; `nil` if they were not asked for.
    let indexShapes: [String: IndexShape]?

    /// The size of the file, in bytes.
    var size: Int64 { pageCount * Int64(pageSize) }

    init(
        of copy: FilePath, store: FilePath, withIndexShapes wantsShapes: Bool = false, watch: ConnectionWatch
    ) throws(SnapshotError) {
        let connection = try WatchedConnection(address: copy.databaseURI, of: store, watch: watch)
        self = try connection.read { try CopyContent($0, withIndexShapes: wantsShapes) }
    }

    private init(_ database: Database, withIndexShapes wantsShapes: Bool) throws {
        pageSize = try database.pragma("page_size") ?? 0
        pageCount = try database.pragma("page_count") ?? 0
        textEncoding = try StoreFacts.TextEncoding(of: database)
        applicationID = try database.pragma("application_id") ?? 0
        userVersion = try database.pragma("user_version") ?? 0
        schemaSHA256 = try Self.schemaSHA256(of: database)
        coreData = try CoreDataStore(database)
        metadata = try UserMetadataPlace.pairs(in: database, of: coreData)
        references = coreData == nil ? [] : try ExternalFileReference.all(in: database)
        // In upper case, as in a manifest.
        var places: [String: ExternalFileName] = [:]
        for name in references.map(\.name) {
            guard let other = places.updateValue(name, forKey: name.relativePath.uppercased()) else { continue }
            throw SnapshotError.sameExternalFile(other, name)
        }
        indexShapes = wantsShapes ? try IndexShape.all(in: database) : nil
    }

    static func schemaSHA256(of database: Database) throws -> ContentDigest {
        ContentDigest(hashing: SchemaEntry.listing(of: try schema(of: database)))
    }

    static func schema(of database: Database) throws -> [SchemaEntry] {
        try Row.fetchAll(database, sql: "SELECT type, name, tbl_name, sql FROM sqlite_master").map { row in
            let texts = Array(row.databaseValues).map { String.fromDatabaseValue($0) ?? "" }
            return SchemaEntry(type: texts[0], name: texts[1], tableName: texts[2], sql: texts[3])
        }
    }

    /// Runs SQLite's own check of the copy, as deep as a receiver does.
    ///
    /// Where `quick_check` complains, `integrity_check` decides, which checks all of the same: the `quick_check` of SQLite 3.40.1
    /// takes the values of a table WITHOUT ROWID for NULL if its key has the columns in another order than the table.
    ///
    /// - Throws: `.corrupt` with the first complaints, which are about the source: the copy has the source's rows. `.needsApp`
    ///   if its indexes cannot be compared with its tables.
    static func check(_ copy: FilePath, store: FilePath, watch: ConnectionWatch) throws(SnapshotError) {
        let connection = try WatchedConnection(address: copy.databaseURI, of: store, watch: watch)
        try connection.read { try check($0, of: store) }
    }

    /// - Parameter store: The file that errors are about.
    /// - Throws: `.corrupt`, also where a page could not be read: `WatchedConnection.read` tells one from the other.
    static func check(_ database: Database, of store: FilePath) throws {
        func complaints(by pragma: String) throws -> [String] {
            try String.fetchAll(database, sql: "PRAGMA \(pragma)(\(mostComplaints))")
        }
        // SQLite looks for functions and collations as it compiles the check, which a larger store has to do without.
        _ = try database.makeStatement(sql: "PRAGMA integrity_check")
        let (pages, pageSize): (Int64?, Int64?) = try (database.pragma("page_count"), database.pragma("page_size"))
        let isSmall = (pages ?? 0) * (pageSize ?? 0) <= StoreFacts.fullyCheckedSize
        if try !isSmall && complaints(by: "quick_check") == ["ok"] { return }
        let complaints = try complaints(by: "integrity_check")
        guard complaints == ["ok"] else {
            throw SnapshotError.corrupt(store, complaints: complaints.map { ForeignText($0) })
        }
    }

    /// Most complaints to report.
    private static let mostComplaints = 10
}

extension Database {
    func pragma<Value: DatabaseValueConvertible>(_ name: String) throws -> Value? {
        try Value.fetchOne(self, sql: "PRAGMA \(name)")
    }
}

extension StoreFacts.TextEncoding {
    init(of database: Database) throws {
        let name: String? = try database.pragma("encoding")
        self = name.flatMap(Self.init) ?? .utf8
    }
}
