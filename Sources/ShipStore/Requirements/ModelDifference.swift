public import ShipProtocol

/// How a store's entities are not those of a model, each list sorted by name.
public struct ModelDifference: Hashable, Sendable {
    /// Entities of the store that the model does not have.
    public let added: [ForeignText]
    /// Entities of the model that the store does not have.
    public let removed: [ForeignText]
    /// Entities that both have, with different hashes.
    public let changed: [ForeignText]

    /// - Parameter store: Entity name to hash, as the store says.
    init(of store: [ForeignText: [UInt8]], from model: EntityModel) {
        added = store.keys.filter { model.hashes[$0] == nil }.sorted()
        removed = model.hashes.keys.filter { store[$0] == nil }.sorted()
        changed = store.filter { entity, hash in model.hashes[entity].map { $0 != hash } ?? false }.keys.sorted()
    }

    /// How many entities it names.
    var count: Int { added.count + removed.count + changed.count }

    /// Whether a reader of the model can open the store, which may lack entities of it if it is a subset.
    func isAcceptable(asSubset isSubset: Bool) -> Bool { isSubset ? added.isEmpty && changed.isEmpty : count == 0 }
}
