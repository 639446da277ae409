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
