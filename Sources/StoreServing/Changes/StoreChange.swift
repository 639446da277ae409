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

extension StoreChange {
    /// What is no change: the generation that is current, as somebody begins to ask for changes.
    public struct Current: Hashable, Sendable {
        public let store: StoreName
        public let generation: GenerationStamp
    }
}

/// One generation in the place of another.
public struct GenerationChange: Hashable, Sendable {
    public let store: StoreName
    /// The last one that was told; `nil` if there was none.
    public let from: GenerationStamp?
    public let to: GenerationStamp
    /// What is in `to` and was not in `from`, and the other way round.
    public let difference: GenerationDifference

    init(from old: Generation?, to new: Generation, tables: [GenerationDifference.TableChange]?) {
        store = new.manifest.name
        from = old.map(GenerationStamp.init)
        to = GenerationStamp(new)
        difference = GenerationDifference(from: old?.manifest, to: new.manifest, tables: tables)
    }

    /// Whether an older generation is current again: somebody went back.
    public var isStepBack: Bool { from.map { to.number < $0.number } ?? false }
}

/// Which generation of a store.
public struct GenerationStamp: Hashable, Sendable {
    /// From 1.
    public let number: Int
    /// Of its store's file.
    public let sha256: ContentDigest
    /// Its folder, for as long as the generation is kept.
    public let path: FilePath
    /// Its store's file in there.
    public let storePath: FilePath

    init(_ generation: Generation) {
        number = generation.number
        sha256 = generation.manifest.store.sha256
        path = generation.path
        storePath = generation.storePath
    }
}
