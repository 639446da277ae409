import CoreDataReading
import ShipProtocol
import StoreFiles

/// Compares what the manifest says with what the store says of itself through SQL, once `quick_check` has passed.
extension StoreClaims {
    /// - Throws: `.contradictsManifest`, and what `connection` throws.
    func compare(with connection: CheckConnection) throws(StoreCheck.Flaw) {
        func number(_ pragma: String) throws(StoreCheck.Flaw) -> Int64 {
            try connection.value("PRAGMA \(pragma)") { $0.integer(0) } ?? 0
        }
        let pageCount = try number("page_count")
        let encoding = try connection.value("PRAGMA encoding") { $0.text(0) ?? "" } ?? ""
        let applicationID = Int32(truncatingIfNeeded: try number("application_id"))
        let userVersion = Int32(truncatingIfNeeded: try number("user_version"))
        // SQLite does not look at every column: what is no text is read as none.
        let entries = try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema") { row in
            SchemaEntry(
                type: row.text(0) ?? "", name: row.text(1) ?? "", tableName: row.text(2) ?? "",
                sql: row.text(3) ?? "")
        }
        let schema = ContentDigest(hashing: SchemaEntry.listing(of: entries))
        let coreData = try Self.coreData(in: connection)
        guard pageCount == store.pageCount else { throw .contradictsManifest("pageCount") }
        guard encoding == store.textEncoding.rawValue else { throw .contradictsManifest("textEncoding") }
        guard applicationID == store.applicationID else { throw .contradictsManifest("applicationID") }
        guard userVersion == store.userVersion else { throw .contradictsManifest("userVersion") }
        guard schema == store.schemaSHA256 else { throw .contradictsManifest("schemaSHA256") }
        guard modelDigest == coreData?.modelDigest else { throw .contradictsManifest("coreData") }
        // Only its producer knows the identity of a store that Core Data did not make.
        guard let coreData else { return }
        guard identity == coreData.identity else { throw .contradictsManifest("identity") }
    }

    /// - Returns: `nil` for a store that Core Data did not make.
    private static func coreData(
        in connection: CheckConnection
    ) throws(StoreCheck.Flaw) -> (identity: ForeignText?, modelDigest: ContentDigest)? {
        let isCoreData = try CoreDataLayout.isSignature { table throws(StoreCheck.Flaw) in
            let isThere = try connection.value(
                "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '\(table)' COLLATE NOCASE"
            ) { $0.integer(0) > 0 }
            return isThere == true ? try connection.rows("PRAGMA table_info('\(table)')") { $0.text(1) ?? "" } : nil
        }
        guard isCoreData else { return nil }
        let longest = PropertyListValue.mostBytes
        let found = try connection.value(
            "SELECT Z_UUID, CASE WHEN length(Z_PLIST) <= \(longest) THEN Z_PLIST END FROM Z_METADATA LIMIT 1"
        ) { row in (row.text(0), row.bytes(1)) }
        let identity = found?.0.map { ForeignText($0) }.flatMap { $0.isLabel ? $0 : nil }
        return (identity, digest(of: CoreDataPropertyList(found?.1 ?? []).entityVersionHashes))
    }
}
