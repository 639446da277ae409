import ShipStore

/// What a store says of itself, a line for each thing.
struct MetadataListing {
    let lines: [PrintableText]

    init(_ metadata: StoreMetadata) {
        let sqlite = metadata.sqlite
        var lines: [PrintableText] = [
            "SQLite         \(Figures.bytes(sqlite.size))"
                + (sqlite.logSize > 0 ? " and \(Figures.bytes(sqlite.logSize)) in its -wal" : "")
                + ", \(sqlite.pageCount) pages of \(sqlite.pageSize) bytes, \(sqlite.freePages) free",
            "settings       \(sqlite.textEncoding.rawValue), journal \(sqlite.journal.rawValue), "
                + "auto_vacuum \(sqlite.autoVacuum.rawValue), user_version \(sqlite.userVersion), "
                + "application_id \(sqlite.applicationID)",
        ]
        if let identity = metadata.identity { lines.append("identity       \(identity)") }
        if let coreData = metadata.coreData { lines += Self.lines(of: coreData) }
        if let token = metadata.historyToken { lines.append("history token  \(token)") }
        lines += metadata.metadata.sorted { $0.key < $1.key }.map { pair in
            "metadata       \(pair.key)=\(pair.value)"
        }
        self.lines = lines
    }

    private static func lines(of coreData: StoreMetadata.CoreData) -> [PrintableText] {
        let versions: [PrintableText] = [
            coreData.storeType.map { "type \($0)" }, coreData.frameworkVersion.map { "framework \($0)" },
            coreData.modelChecksum.map { "checksum \($0)" }, coreData.versionHashesDigest.map { "digest \($0)" },
        ].compactMap { $0 }
        let identifiers = coreData.modelVersionIdentifiers.filter { !$0.unescaped.isEmpty }.map {
            PrintableText("\($0)")
        }
        let words = versions.isEmpty ? "says nothing of its model" : versions.joined(separator: ", ")
        return ["Core Data      \(words)"]
            + (identifiers.isEmpty ? [] : ["model          \(identifiers.joined(separator: ", "))"])
            + coreData.entityVersionHashes.sorted { $0.key < $1.key }.map { entity in
                "entity         \(entity.key)  \(entity.value)"
            }
    }
}
