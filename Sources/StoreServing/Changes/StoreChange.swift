public import ShipProtocol
public import StoreInbox
public import SystemPackage

/// Something that a reader of a store may want to react to.
public enum StoreChange: Hashable, Sendable {
    /// Another generation is current.
    case generation(GenerationChange)
    /// The store has no current generation any more.
    case removed(StoreName)
    /// A file was replaced or restored where it stands: all of it may be different.
    case rewritten(StoreName)
    /// Another generation is current, and what it is cannot be told: its number, and why.
    case unreadable(StoreName, generation: Int, InboxError)

    public var store: StoreName {
        switch self {
        case .generation(let change): change.store
        case .removed(let name), .rewritten(let name), .unreadable(let name, _, _): name
        }
    }
}

/// One generation in the place of another.
public struct GenerationChange: Hashable, Sendable {
    /// The last one that was told; `nil` if there was none.
    public let from: GenerationStamp?
    public let to: GenerationStamp
    /// What is in `to` and was not in `from`, and the other way round.
    public let difference: GenerationDifference

    init(from old: Generation?, to new: Generation, tables: [GenerationDifference.TableChange]?) {
        from = old.map(GenerationStamp.init)
        to = GenerationStamp(new)
        difference = GenerationDifference(from: old?.manifest, to: new.manifest, tables: tables)
    }

    public var store: StoreName { to.store }

    /// Whether an older generation is current again, after a rollback.
    public var isStepBack: Bool { from.map { to.number < $0.number } ?? false }
}

/// Which generation of which store.
public struct GenerationStamp: Hashable, Sendable {
    public let store: StoreName
    /// From 1.
    public let number: Int
    /// Of its store's file.
    public let sha256: ContentDigest
    /// Its folder, for as long as the generation is kept.
    public let path: FilePath
    /// Its store's file in there.
    public let storePath: FilePath

    init(_ generation: Generation) {
        store = generation.manifest.name
        number = generation.number
        sha256 = generation.manifest.store.sha256
        path = generation.path
        storePath = generation.storePath
    }
}

/// What is different between two generations of a store.
///
/// Tables are compared in the stores themselves. The manifests say the rest, which was checked when they came in.
public struct GenerationDifference: Hashable, Sendable {
    /// Tables whose rows changed, that came or went, sorted by name; `nil` if that cannot be told, as where the generation
    /// before is not kept any more. One that was written anew with the same values may be among them.
    public let tables: [TableChange]?
    /// Whether a table, an index, a view or a trigger was declared, changed or dropped.
    public let hasSchemaChanged: Bool
    public let externalFiles: ExternalFileChanges
    /// The user's pairs that came, went or changed, by their keys.
    public let metadata: [String: ValueChange]

    /// A table with other content than before.
    public struct TableChange: Hashable, Sendable {
        public let name: ForeignText
        /// `nil` if there was no such table.
        public let rowsBefore: Int64?
        /// `nil` if there is no such table any more.
        public let rowsAfter: Int64?
    }

    /// External files by their names, each list sorted.
    public struct ExternalFileChanges: Hashable, Sendable {
        public let added: [ExternalFileName]
        public let removed: [ExternalFileName]
        /// Other bytes under the same name.
        public let replaced: [ExternalFileName]

        public var isEmpty: Bool { added.isEmpty && removed.isEmpty && replaced.isEmpty }
    }

    /// A value of the metadata, before and after.
    public struct ValueChange: Hashable, Sendable {
        public let before: ForeignText?
        public let after: ForeignText?
    }

    /// - Parameters:
    ///   - old: `nil` for the first shipment: everything in it is new.
    ///   - new: What is current now.
    ///   - tables: Which of its tables are other ones.
    package init(from old: Manifest?, to new: Manifest, tables: [TableChange]?) {
        self.tables = tables
        hasSchemaChanged = old.map { $0.store.schemaSHA256 != new.store.schemaSHA256 } ?? true
        externalFiles = Self.externalFiles(old?.externalFiles ?? [], new.externalFiles)
        var metadata: [String: ValueChange] = [:]
        for key in Set(new.metadata.keys).union(old?.metadata.keys ?? [:].keys) {
            let change = ValueChange(before: old?.metadata[key], after: new.metadata[key])
            if change.before != change.after { metadata[key] = change }
        }
        self.metadata = metadata
    }

    private static func externalFiles(_ old: [ExternalFile], _ new: [ExternalFile]) -> ExternalFileChanges {
        let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        let after = Dictionary(new.map { ($0.name, $0) }) { first, _ in first }
        return ExternalFileChanges(
            added: after.keys.filter { before[$0] == nil }.sorted(),
            removed: before.keys.filter { after[$0] == nil }.sorted(),
            replaced: after.filter { name, file in before[name].map { $0 != file } ?? false }.keys.sorted())
    }
}
