/// The place of an external file of a Core Data store: a folder inside `.<store>_SUPPORT`, and a UUID.
///
/// Source: `Protocol/README.md` section 4.6.
public struct ExternalFileName: Hashable, Sendable, Comparable {
    public let folder: Folder
    /// 36 characters: 8-4-4-4-12 hexadecimal digits, upper or lower case as in the store.
    public let uuid: String

    /// The folders that Core Data uses, by their names on disk.
    public enum Folder: String, Hashable, Sendable, Codable, CaseIterable {
        /// Attributes that "allow external storage".
        case externalData = "_EXTERNAL_DATA"
        /// File-backed futures.
        case fileBacked = "_FBF"
    }

    /// - Returns: `nil` unless `uuid` has the form of a UUID, so that it can never be a path.
    public init?(folder: Folder, uuid: String) {
        let bytes = Array(uuid.utf8.prefix(37))
        guard bytes.count == 36 else { return nil }
        for (index, byte) in bytes.enumerated() {
            switch index {
            case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return nil }
            default: guard Self.isHexadecimal(byte) else { return nil }
            }
        }
        self.folder = folder
        self.uuid = uuid
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }

    /// The support folder of a store, beside it, by the store's name without extension: `.<stem>_SUPPORT`.
    package static func supportFolder(ofStem stem: String) -> String { ".\(stem)_SUPPORT" }

    /// `_EXTERNAL_DATA/<UUID>`, relative to the support folder.
    public var relativePath: String { "\(folder.rawValue)/\(uuid)" }

    public static func < (left: ExternalFileName, right: ExternalFileName) -> Bool {
        left.relativePath < right.relativePath
    }
}

extension ExternalFileName: Codable {
    /// The members of its JSON object; those of a file follow its name in the same object.
    enum CodingKeys: String, CodingKey {
        case folder
        case uuid = "name"
        case size, sha256
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let folder = try container.decode(Folder.self, forKey: .folder)
        guard let name = ExternalFileName(folder: folder, uuid: try container.decode(String.self, forKey: .uuid)) else {
            throw DecodingError.dataCorruptedError(
                forKey: CodingKeys.uuid, in: container, debugDescription: "not a UUID")
        }
        self = name
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(folder, forKey: .folder)
        try container.encode(uuid, forKey: .uuid)
    }
}
