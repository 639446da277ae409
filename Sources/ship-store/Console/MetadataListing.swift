import ShipStore

/// What a store says of itself, a line for each thing.
struct MetadataListing {
    let lines: [String]

    init(_ metadata: StoreMetadata) {
        let sqlite = metadata.sqlite
        var lines = [
            "SQLite         \(Figures.bytes(sqlite.size))"
                + (sqlite.logSize > 0 ? " and \(Figures.bytes(sqlite.logSize)) in its -wal" : "")
                + ", \(sqlite.pageCount) pages of \(sqlite.pageSize) bytes, \(sqlite.freePages) free",
            "settings       \(sqlite.textEncoding.rawValue), journal \(sqlite.journal.rawValue), "
                + "auto_vacuum \(sqlite.autoVacuum.rawValue), user_version \(sqlite.userVersion), "
                + "application_id \(sqlite.applicationID)",
        ]
        if let identity = metadata.identity { lines.append("identity       \(Printable.text(identity))") }
        if let coreData = metadata.coreData { lines += Self.lines(of: coreData) }
        if let token = metadata.historyToken { lines.append("history token  \(token)") }
        lines += metadata.metadata.sorted { $0.key < $1.key }.map { pair in
            "metadata       \(pair.key)=\(Printable.text(pair.value))"
        }
        self.lines = lines
    }

    private static func lines(of coreData: StoreMetadata.CoreData) -> [String] {
        let versions = [
            coreData.storeType.map { "type \($0)" }, coreData.frameworkVersion.map { "framework \($0)" },
            coreData.modelChecksum.map { "checksum \($0)" }, coreData.versionHashesDigest.map { "digest \($0)" },
        ].compactMap { $0 }
        let identifiers = coreData.modelVersionIdentifiers.filter { !$0.isEmpty }
        let words = versions.isEmpty ? "says nothing of its model" : Printable.text(versions.joined(separator: ", "))
        return ["Core Data      \(words)"]
            + (identifiers.isEmpty ? [] : ["model          \(Printable.text(identifiers.joined(separator: ", ")))"])
            + coreData.entityVersionHashes.sorted { $0.key < $1.key }.map { entity in
                "entity         \(Printable.text(entity.key))  \(entity.value)"
            }
    }
}
