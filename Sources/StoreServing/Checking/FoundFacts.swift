import CoreDataReading
import ShipProtocol
import StoreFiles
import StoreFormat

/// What a store says of itself through SQL, once `quick_check` has passed.
struct FoundFacts {
    private let pageCount: Int64
    private let encoding: String
    private let applicationID: Int32
    private let userVersion: Int32
    private let schema: ContentDigest
    private let coreData: FoundCoreData?

    init(reading connection: CheckConnection) throws(StoreCheck.Flaw) {
        func number(_ pragma: String) throws(StoreCheck.Flaw) -> Int64 {
            try connection.value("PRAGMA \(pragma)") { $0.integer(0) } ?? 0
        }
        pageCount = try number("page_count")
        encoding = try connection.value("PRAGMA encoding") { $0.text(0) ?? "" } ?? ""
        applicationID = Int32(truncatingIfNeeded: try number("application_id"))
        userVersion = Int32(truncatingIfNeeded: try number("user_version"))
        // SQLite does not look at every column: what is no text is read as none.
        let entries = try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema") { row in
            SchemaListing.Entry(
                type: row.text(0) ?? "", name: row.text(1) ?? "", tableName: row.text(2) ?? "",
                sql: row.text(3) ?? "")
        }
        schema = ContentDigest(hashing: SchemaListing.bytes(of: entries))
        coreData = try FoundCoreData(reading: connection)
    }

    func compare(with claims: StoreClaims) throws(StoreCheck.Flaw) {
        let facts = claims.store
        guard pageCount == facts.pageCount else { throw .contradictsManifest("pageCount") }
        guard encoding == facts.textEncoding.rawValue else { throw .contradictsManifest("textEncoding") }
        guard applicationID == facts.applicationID else { throw .contradictsManifest("applicationID") }
        guard userVersion == facts.userVersion else { throw .contradictsManifest("userVersion") }
        guard schema == facts.schemaSHA256 else { throw .contradictsManifest("schemaSHA256") }
        guard claims.modelDigest == coreData?.modelDigest else {
            throw .contradictsManifest("coreData")
        }
        // What the identity of another store is, only its producer knows.
        guard let coreData else { return }
        guard claims.identity == coreData.identity else { throw .contradictsManifest("identity") }
    }
}

/// What a Core Data store says of itself.
private struct FoundCoreData {
    let identity: ForeignText?
    let modelDigest: ContentDigest

    /// - Returns: `nil` for a store that Core Data did not make.
    init?(reading connection: CheckConnection) throws(StoreCheck.Flaw) {
        for (table, columns) in CoreDataLayout.signature {
            let isThere = try connection.value(
                "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '\(table)' COLLATE NOCASE"
            ) { $0.integer(0) > 0 }
            guard isThere == true else { return nil }
            let names = try connection.rows("PRAGMA table_info('\(table)')") { $0.text(1) ?? "" }
            guard Set(names).isSuperset(of: columns) else { return nil }
        }
        let longest = PropertyListValue.mostBytes
        let found = try connection.value(
            "SELECT Z_UUID, CASE WHEN length(Z_PLIST) <= \(longest) THEN Z_PLIST END FROM Z_METADATA LIMIT 1"
        ) { row in (row.text(0), row.bytes(1)) }
        identity = found?.0.map { ForeignText($0) }.flatMap { Label.isValid($0) ? $0 : nil }
        modelDigest = StoreClaims.digest(
            of: CoreDataPropertyList(found?.1 ?? []).entityVersionHashes)
    }
}
