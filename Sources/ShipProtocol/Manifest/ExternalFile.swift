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
    fileprivate enum CodingKeys: String, CodingKey {
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

/// One external file of a shipment.
public struct ExternalFile: Hashable, Sendable {
    public let name: ExternalFileName
    /// Size of the file, in bytes.
    public let size: Int64
    /// SHA-256 of the whole file.
    public let sha256: ContentDigest

    package init(name: ExternalFileName, size: Int64, sha256: ContentDigest) {
        self.name = name
        self.size = size
        self.sha256 = sha256
    }
}

extension ExternalFile: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ExternalFileName.CodingKeys.self)
        self.init(
            name: try ExternalFileName(from: decoder),
            size: try container.decode(Int64.self, forKey: .size),
            sha256: try container.decode(ContentDigest.self, forKey: .sha256))
    }

    public func encode(to encoder: any Encoder) throws {
        try name.encode(to: encoder)
        var container = encoder.container(keyedBy: ExternalFileName.CodingKeys.self)
        try container.encode(size, forKey: .size)
        try container.encode(sha256, forKey: .sha256)
    }
}

/// What the user had left out of a shipment. The manifest says it, so that a reader does not take its absence for a loss.
///
/// Source: `Protocol/README.md` section 4.9.
public struct Omissions: Hashable, Sendable {
    /// Whether the persistent history of a Core Data store was emptied.
    public let history: Bool
    /// Tables that were emptied, sorted.
    public let tables: [ForeignText]
    /// External files that are referenced and were not shipped, sorted.
    public let externalFiles: [OmittedFile]

    /// An external file that was too large to be shipped.
    public struct OmittedFile: Hashable, Sendable {
        public let name: ExternalFileName
        /// Of the file, in bytes.
        public let size: Int64

        package init(name: ExternalFileName, size: Int64) {
            self.name = name
            self.size = size
        }
    }

    /// - Returns: `nil` if nothing was left out.
    package init?(history: Bool, tables: [ForeignText], externalFiles: [OmittedFile]) {
        guard history || !tables.isEmpty || !externalFiles.isEmpty else { return nil }
        self.history = history
        self.tables = tables.sorted()
        self.externalFiles = externalFiles.sorted { $0.name < $1.name }
    }

    /// Whether it lists nothing: the same as no omissions.
    var isEmpty: Bool { !history && tables.isEmpty && externalFiles.isEmpty }

    var firstFlaw: String? {
        guard tables.count <= Limits.tables else { return "more than \(Limits.tables) tables" }
        guard tables.allSatisfy(\.isLabel) else { return "the name of a table is not a label" }
        return externalFiles.allSatisfy { (0...Limits.partSize).contains($0.size) }
            ? nil : "the size of an external file is out of range"
    }
}

extension Omissions: Codable {
    private enum CodingKeys: String, CodingKey {
        case history, tables, externalFiles
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        history = try container.decodeIfPresent(Bool.self, forKey: .history) ?? false
        tables = try container.decodeIfPresent([ForeignText].self, forKey: .tables) ?? []
        externalFiles = try container.decodeIfPresent([OmittedFile].self, forKey: .externalFiles) ?? []
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        if history { try container.encode(history, forKey: .history) }
        if !tables.isEmpty { try container.encode(tables, forKey: .tables) }
        if !externalFiles.isEmpty { try container.encode(externalFiles, forKey: .externalFiles) }
    }
}

extension Omissions.OmittedFile: Codable {
    public init(from decoder: any Decoder) throws {
        name = try ExternalFileName(from: decoder)
        size = try decoder.container(keyedBy: ExternalFileName.CodingKeys.self).decode(Int64.self, forKey: .size)
    }

    public func encode(to encoder: any Encoder) throws {
        try name.encode(to: encoder)
        var container = encoder.container(keyedBy: ExternalFileName.CodingKeys.self)
        try container.encode(size, forKey: .size)
    }
}
