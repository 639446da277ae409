/// What the manifest says of the copy itself: enough to check the copy before parsing it.
///
/// Source: `Protocol/README.md` section 4.4.
public struct StoreFacts: Hashable, Sendable, Codable {
    /// Stores up to this size, in bytes, pass `integrity_check` before they are shipped, and where they arrive; it takes some ten times as
    /// long as `quick_check`, which all pass.
    public static let fullyCheckedSize: Int64 = 8 * 1024 * 1024

    /// Size of the file, in bytes: `pageSize` x `pageCount`.
    public let size: Int64
    /// SHA-256 of the whole file.
    public let sha256: ContentDigest
    /// Bytes a page: a power of two from 512 to 65,536.
    public let pageSize: Int
    /// Pages of the file.
    public let pageCount: Int64
    public let textEncoding: TextEncoding
    /// `PRAGMA application_id`.
    public let applicationID: Int32
    /// `PRAGMA user_version`.
    public let userVersion: Int32
    /// SHA-256 of the schema, as `Protocol/README.md` section 4.5 defines it.
    public let schemaSHA256: ContentDigest

    /// The encoding of a database's text, as `PRAGMA encoding` writes it.
    public enum TextEncoding: String, Hashable, Sendable, Codable {
        case utf8 = "UTF-8"
        case utf16LittleEndian = "UTF-16le"
        case utf16BigEndian = "UTF-16be"
    }

    package init(
        size: Int64, sha256: ContentDigest, pageSize: Int, pageCount: Int64, textEncoding: TextEncoding,
        applicationID: Int32, userVersion: Int32, schemaSHA256: ContentDigest
    ) {
        self.size = size
        self.sha256 = sha256
        self.pageSize = pageSize
        self.pageCount = pageCount
        self.textEncoding = textEncoding
        self.applicationID = applicationID
        self.userVersion = userVersion
        self.schemaSHA256 = schemaSHA256
    }
}

/// One row of `sqlite_schema`, as the digest of a schema counts it.
///
/// Source: `Protocol/README.md` section 4.5.
package struct SchemaEntry: Hashable, Sendable {
    package let type: String
    package let name: String
    package let tableName: String
    /// Empty where it is NULL.
    package let sql: String

    package init(type: String, name: String, tableName: String, sql: String) {
        self.type = type
        self.name = name
        self.tableName = tableName
        self.sql = sql
    }

    /// The bytes whose SHA-256 is `StoreFacts.schemaSHA256`: equal schemas give equal bytes, whatever the order in which they were
    /// made.
    ///
    /// It leaves out SQLite's own entries (`sqlite_...`), and sorts the others by type, then by name, as bytes of UTF-8. A zero byte
    /// follows each of the four texts.
    package static func listing(of entries: some Sequence<SchemaEntry>) -> [UInt8] {
        let rows = entries.filter { !$0.name.hasPrefix("sqlite_") }
            .map { entry in (entry, Array(entry.type.utf8), Array(entry.name.utf8)) }
            .sorted { left, right in
                left.1 == right.1
                    ? left.2.lexicographicallyPrecedes(right.2) : left.1.lexicographicallyPrecedes(right.1)
            }
        var bytes: [UInt8] = []
        for (entry, type, name) in rows {
            for text in [type, name, Array(entry.tableName.utf8), Array(entry.sql.utf8)] {
                bytes += text
                bytes.append(0)
            }
        }
        return bytes
    }
}

/// What one table of a store holds, in a few bytes: two stores with equal digests hold the same rows in it. A consumer compares it
/// with the store before it installs the store.
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
