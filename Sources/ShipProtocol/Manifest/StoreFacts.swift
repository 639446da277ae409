/// The manifest's facts about the copy itself: enough to check the copy before parsing it.
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
