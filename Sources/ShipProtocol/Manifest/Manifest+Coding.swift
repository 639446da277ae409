import EssentialFoundation

/// A consumer reads a manifest strictly: each known member has its type and its limits, or the consumer refuses the shipment. It
/// skips members that this version does not know; `requires` names what it must not skip.
///
/// Source: `Protocol/README.md` sections 4 and 8.
extension Manifest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, createdAt, producer, store, identity, coreData, externalFiles, missingExternalFiles, omissions
        case tables, metadata, counter, base, requires
    }

    static var memberNames: Set<String>? { Set(CodingKeys.allCases.map(\.rawValue)) }

    /// - Throws: `ProtocolError.featureNotSupported` if that may be why it breaks a rule of today.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        do {
            // Each member is set here: for a new `let`, which has no default, the compiler asks for it.
            name = try container.decode(StoreName.self, forKey: .name)
            createdAt = try container.decode(Timestamp.self, forKey: .createdAt)
            producer = try container.decode(Software.self, forKey: .producer)
            store = try container.decode(StoreFacts.self, forKey: .store)
            identity = try container.decodeIfPresent(ForeignText.self, forKey: .identity)
            coreData = try container.decodeIfPresent(CoreDataFacts.self, forKey: .coreData)
            externalFiles = try container.decodeIfPresent([ExternalFile].self, forKey: .externalFiles) ?? []
            missingExternalFiles =
                try container.decodeIfPresent([ExternalFileName].self, forKey: .missingExternalFiles) ?? []
            omissions = try container.decodeIfPresent(Omissions.self, forKey: .omissions).flatMap {
                $0.isEmpty ? nil : $0
            }
            tables = try container.decodeIfPresent([ForeignText: TableContent].self, forKey: .tables)
            metadata = try container.decodeIfPresent([String: ForeignText].self, forKey: .metadata) ?? [:]
            counter = try container.decodeIfPresent(UInt64.self, forKey: .counter)
            base = try container.decodeIfPresent(Base.self, forKey: .base)
            requires = try container.decodeIfPresent([ForeignText].self, forKey: .requires) ?? []
            if let flaw = firstFlaw {
                throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: flaw))
            }
        } catch {
            // `requires` is the one member that every version understands, whatever a later one makes of the others.
            if let features = try? container.decodeIfPresent([ForeignText].self, forKey: .requires),
                let feature = features.first, Self.firstFlaw(ofRequirements: features) == nil
            {
                throw ProtocolError.featureNotSupported(feature)
            }
            throw error
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        for key in CodingKeys.allCases {
            switch key {
            case .name: try container.encode(name, forKey: key)
            case .createdAt: try container.encode(createdAt, forKey: key)
            case .producer: try container.encode(producer, forKey: key)
            case .store: try container.encode(store, forKey: key)
            case .identity: try container.encodeIfPresent(identity, forKey: key)
            case .coreData: try container.encodeIfPresent(coreData, forKey: key)
            case .externalFiles: if !externalFiles.isEmpty { try container.encode(externalFiles, forKey: key) }
            case .missingExternalFiles:
                if !missingExternalFiles.isEmpty { try container.encode(missingExternalFiles, forKey: key) }
            case .omissions: try container.encodeIfPresent(omissions, forKey: key)
            case .tables: try container.encodeIfPresent(tables, forKey: key)
            case .metadata: if !metadata.isEmpty { try container.encode(metadata, forKey: key) }
            case .counter: try container.encodeIfPresent(counter, forKey: key)
            case .base: try container.encodeIfPresent(base, forKey: key)
            case .requires: if !requires.isEmpty { try container.encode(requires, forKey: key) }
            }
        }
    }

    /// The first rule of `Protocol/README.md` section 4 that the values break although every type is right, in words for a log.
    package var firstFlaw: String? {
        let labels = [producer.software, producer.sqlite, identity ?? "-"]
        let names = externalFiles.map(\.name) + missingExternalFiles + (omissions?.externalFiles.map(\.name) ?? [])
        if let flaw = store.firstFlaw { return flaw }
        if !labels.allSatisfy(\.isLabel) { return "a label is not of 1 to \(Limits.labelLength) bytes" }
        if let flaw = Self.firstFlaw(ofRequirements: requires) { return flaw }
        if counter == 0 { return "counters begin at 1" }
        if names.count > Limits.externalFiles { return "more than \(Limits.externalFiles) external files" }
        // In upper case: some file systems do not tell upper and lower case apart.
        let places = Set(names.map { $0.relativePath.uppercased() })
        if places.count != names.count { return "an external file is named twice" }
        if !externalFiles.allSatisfy({ (0...Limits.partSize).contains($0.size) }) {
            return "the size of an external file is out of range"
        }
        if !names.isEmpty, coreData == nil { return "external files without Core Data" }
        if let coreData, let flaw = coreData.firstFlaw { return flaw }
        if let flaw = omissions?.firstFlaw ?? TableContent.firstFlaw(of: tables ?? [:]) { return flaw }
        return Self.firstFlaw(ofMetadata: metadata)
    }

    static func firstFlaw(ofRequirements requires: [ForeignText]) -> String? {
        guard requires.count <= Limits.features else { return "more than \(Limits.features) required features" }
        return requires.allSatisfy(\.isLabel) ? nil : "a required feature is not named by a label"
    }
}

/// The rules for the user's own pairs: at most 64; keys of `A-Z a-z 0-9 . _ -`, values of any text.
///
/// Source: `Protocol/README.md` section 4.7.
extension Manifest {
    /// The first rule that the pairs break, in words for people, or `nil`.
    package static func firstFlaw(ofMetadata pairs: [String: ForeignText]) -> String? {
        guard pairs.count <= Limits.metadataPairs else { return "more than \(Limits.metadataPairs) pairs of metadata" }
        for (key, value) in pairs {
            guard (1...Limits.metadataKeyLength).contains(key.utf8.count), key.utf8.allSatisfy(\.isOfName) else {
                return "a metadata key is 1 to \(Limits.metadataKeyLength) letters, digits, dots, dashes or underscores"
            }
            guard value.unescaped.utf8.count <= Limits.metadataValueLength else {
                return "the metadata value of \(key) is longer than \(Limits.metadataValueLength) bytes"
            }
        }
        return nil
    }
}

extension StoreFacts {
    fileprivate var firstFlaw: String? {
        guard (512...65_536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            return "a page of \(pageSize) bytes"
        }
        let (product, overflow) = pageCount.multipliedReportingOverflow(by: Int64(pageSize))
        guard pageCount > 0, !overflow, product == size, size <= Limits.partSize else {
            return "\(pageCount) pages of \(pageSize) bytes are not \(size) bytes"
        }
        return nil
    }
}

extension Manifest.CoreDataFacts {
    fileprivate var firstFlaw: String? {
        guard entityVersionHashes.count <= Limits.entities else { return "more than \(Limits.entities) entities" }
        for (entity, hash) in entityVersionHashes {
            guard entity.isLabel else { return "the name of an entity is not a label" }
            guard hash.utf8.count <= 64, let bytes = Data(base64Encoded: hash), bytes.count == 32 else {
                return "the version hash of an entity is not 32 bytes in base64"
            }
        }
        return nil
    }
}
