import EssentialFoundation

/// A manifest is read strictly: each known member has its type and its limits, or the shipment is refused. Members that
/// this version does not know are passed over; what must not be passed over is named in `requires`.
///
/// Source: `Protocol/README.md` sections 4 and 8.
extension Manifest: Codable {
    private enum CodingKeys: String, CodingKey {
        case name, createdAt, producer, store, identity, coreData, externalFiles, missingExternalFiles, omissions
        case tables, metadata, counter, base, requires
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try container.decode(StoreName.self, forKey: .name),
            createdAt: try container.decode(Timestamp.self, forKey: .createdAt),
            producer: try container.decode(Software.self, forKey: .producer),
            store: try container.decode(StoreFacts.self, forKey: .store),
            identity: try container.decodeIfPresent(ForeignText.self, forKey: .identity),
            coreData: try container.decodeIfPresent(CoreDataFacts.self, forKey: .coreData),
            externalFiles: try container.decodeIfPresent([ExternalFile].self, forKey: .externalFiles) ?? [],
            missingExternalFiles: try container.decodeIfPresent([ExternalFileName].self, forKey: .missingExternalFiles)
                ?? [],
            omissions: try container.decodeIfPresent(Omissions.self, forKey: .omissions).flatMap {
                $0.isEmpty ? nil : $0
            },
            tables: try container.decodeIfPresent([ForeignText: TableContent].self, forKey: .tables),
            metadata: try container.decodeIfPresent([String: ForeignText].self, forKey: .metadata) ?? [:],
            counter: try container.decodeIfPresent(UInt64.self, forKey: .counter),
            base: try container.decodeIfPresent(Base.self, forKey: .base),
            requires: try container.decodeIfPresent([ForeignText].self, forKey: .requires) ?? [])
        if let flaw = firstFlaw {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: flaw))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(producer, forKey: .producer)
        try container.encode(store, forKey: .store)
        try container.encodeIfPresent(identity, forKey: .identity)
        try container.encodeIfPresent(coreData, forKey: .coreData)
        if !externalFiles.isEmpty { try container.encode(externalFiles, forKey: .externalFiles) }
        if !missingExternalFiles.isEmpty { try container.encode(missingExternalFiles, forKey: .missingExternalFiles) }
        try container.encodeIfPresent(omissions, forKey: .omissions)
        try container.encodeIfPresent(tables, forKey: .tables)
        if !metadata.isEmpty { try container.encode(metadata, forKey: .metadata) }
        try container.encodeIfPresent(counter, forKey: .counter)
        try container.encodeIfPresent(base, forKey: .base)
        if !requires.isEmpty { try container.encode(requires, forKey: .requires) }
    }

    /// What breaks the rules of `Protocol/README.md` section 4 although every type is right, in words for a log.
    package var firstFlaw: String? {
        let labels = [producer.software, producer.sqlite, identity ?? "-"]
        let names = externalFiles.map(\.name) + missingExternalFiles + (omissions?.externalFiles.map(\.name) ?? [])
        if let flaw = store.firstFlaw { return flaw }
        if !labels.allSatisfy(Label.isValid) { return "a label is not of 1 to \(Limits.labelLength) bytes" }
        if let flaw = Self.firstFlaw(ofRequirements: requires) { return flaw }
        if counter == 0 { return "counters begin at 1" }
        if names.count > Limits.externalFiles { return "more than \(Limits.externalFiles) external files" }
        // In whatever case: there are file systems that do not tell them apart.
        let places = Set(names.map { $0.relativePath.uppercased() })
        if places.count != names.count { return "an external file is named twice" }
        if !externalFiles.allSatisfy({ (0...Limits.partSize).contains($0.size) }) {
            return "the size of an external file is out of range"
        }
        if !names.isEmpty, coreData == nil { return "external files without Core Data" }
        if let coreData, let flaw = coreData.firstFlaw { return flaw }
        if let flaw = omissions?.firstFlaw ?? TableContent.firstFlaw(of: tables ?? [:]) { return flaw }
        return Metadata.firstFlaw(of: metadata)
    }

    static func firstFlaw(ofRequirements requires: [ForeignText]) -> String? {
        guard requires.count <= Limits.features else { return "more than \(Limits.features) required features" }
        return requires.allSatisfy(Label.isValid) ? nil : "a required feature is not named by a label"
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
            guard Label.isValid(entity) else { return "the name of an entity is not a label" }
            guard hash.utf8.count <= 64, let bytes = Data(base64Encoded: hash), bytes.count == 32 else {
                return "the version hash of an entity is not 32 bytes in base64"
            }
        }
        return nil
    }
}
