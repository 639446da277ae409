public import ShipProtocol

/// One version of a Core Data model: what a store of it must say of its entities, byte for byte.
///
/// Nobody recomputes the hashes: Core Data writes them into the store, and the model compiler into `VersionInfo.plist`.
public struct EntityModel: Hashable, Sendable {
    /// For messages: the version's name in its `.momd`, or the file it comes from.
    public let name: ForeignText
    /// Entity name to the 32 bytes of its version hash.
    public let hashes: [ForeignText: [UInt8]]

    /// Length of a version hash, in bytes.
    static let hashSize = 32

    public init(name: ForeignText, hashes: [ForeignText: [UInt8]]) {
        self.name = name
        self.hashes = hashes
    }
}

/// How a store's entities are not those of a model, each list sorted by name.
public struct ModelDifference: Hashable, Sendable {
    /// Entities of the store that the model does not have.
    public let added: [ForeignText]
    /// Entities of the model that the store does not have.
    public let removed: [ForeignText]
    /// Entities that both have, and of which the hashes differ.
    public let changed: [ForeignText]

    /// - Parameter store: Entity name to hash, as the store says.
    init(of store: [ForeignText: [UInt8]], from model: EntityModel) {
        added = store.keys.filter { model.hashes[$0] == nil }.sorted()
        removed = model.hashes.keys.filter { store[$0] == nil }.sorted()
        changed = store.filter { entity, hash in model.hashes[entity].map { $0 != hash } ?? false }.keys.sorted()
    }

    /// How many entities it names.
    var count: Int { added.count + removed.count + changed.count }

    /// Whether a reader of the model can open the store.
    func isAcceptable(_ match: StoreRequirements.ModelMatch) -> Bool {
        switch match {
        case .exact: count == 0
        case .subset: added.isEmpty && changed.isEmpty
        }
    }
}
