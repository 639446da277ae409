import ShipStore
import SystemPackage

/// A file that stays in the support folder of a store that goes, or that gets another content.
struct RemainingFileLine: Encodable {
    let path: String
    /// `used`, `unexplained`, `unreadable` or `read`.
    let reason: String
    /// The store that refers to it, or whose rows cannot be read.
    let store: String?

    init(_ file: RemainingFile) {
        path = file.path.string
        switch file.reason {
        case .usedBy(let store): (reason, self.store) = ("used", store.string)
        case .unexplained: (reason, store) = ("unexplained", nil)
        case .unreadable(let store): (reason, self.store) = ("unreadable", store.string)
        case .stillRead: (reason, store) = ("read", nil)
        }
    }
}

extension Console {
    /// What stays, and why: one line for each reason.
    func say(_ remaining: [RemainingFile]) {
        var counts: [RemainingFile.Reason: (count: Int, first: FilePath)] = [:]
        for file in remaining {
            counts[file.reason] = ((counts[file.reason]?.count ?? 0) + 1, counts[file.reason]?.first ?? file.path)
        }
        for (reason, found) in counts.sorted(by: { $0.value.first.string < $1.value.first.string }) {
            let files = found.count == 1 ? "\(found.first) stays" : "\(found.first) and \(found.count - 1) more stay"
            switch reason {
            case .usedBy(let store): say("\(files): \(store) refers to \(found.count == 1 ? "it" : "them")")
            case .unexplained: warn("\(files): no store refers to \(found.count == 1 ? "it" : "them")")
            case .unreadable(let store):
                warn("\(files): \(store) may refer to \(found.count == 1 ? "it" : "them"), and its rows cannot be read")
            case .stillRead:
                say(
                    "\(files): somebody still reads the store as it was; the next restore removes "
                        + "\(found.count == 1 ? "it" : "them")")
            }
        }
    }

    /// Links that led to a store, and go with it.
    func say(goneWithItsStore links: [FilePath]) {
        for link in links { say("the symbolic link \(link) is gone too") }
    }
}

/// What was left out of a copy on the user's word, for people.
struct OmissionWords {
    let lines: [PrintableText]

    /// - Parameter profile: What was asked for.
    init(_ manifest: Manifest, askedFor profile: CopyProfile = CopyProfile()) {
        let omissions = manifest.omissions
        var lines: [PrintableText] = omissions.map { ["left out: \($0.words(bytes: Figures.bytes))"] } ?? []
        if profile.history == .leftOut, omissions?.history != true {
            lines.append("there is no history to leave out")
        }
        self.lines = lines
    }
}

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
