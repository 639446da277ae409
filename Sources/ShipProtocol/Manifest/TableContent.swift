/// The content of one table of a store, in a few bytes: two stores with equal digests hold the same rows in it. A consumer compares it with
/// the store before it installs the store.
///
/// Source: `Protocol/README.md` section 4.8.
public struct TableContent: Hashable, Sendable, Codable {
    public let rows: Int64
    /// The first 32 hexadecimal digits of the SHA-256 of the rows, as they are written in the store's file.
    public let digest: String

    /// - Parameter sha256: Of the rows, as section 4.8 writes them.
    package init(rows: Int64, sha256: ContentDigest) {
        self.rows = rows
        digest = String(sha256.hex.prefix(Self.digestLength))
    }

    private static let digestLength = 32

    static func firstFlaw(of tables: [ForeignText: TableContent]) -> String? {
        guard tables.count <= Limits.tables else { return "more than \(Limits.tables) tables" }
        guard tables.keys.allSatisfy(\.isLabel) else { return "the name of a table is not a label" }
        return tables.values.lazy.compactMap(\.firstFlaw).first
    }

    private var firstFlaw: String? {
        guard rows >= 0 else { return "a table of fewer than 0 rows" }
        let isDigest = ContentDigest.bytes(Self.digestLength / 2, ofHex: digest) != nil
        return isDigest ? nil : "the digest of a table is not \(Self.digestLength) digits of 0-9a-f"
    }
}
