import EssentialFoundation
public import ShipProtocol

/// What a shipment must be for the reader of an inbox to make use of it, decided by its manifest alone: before its blocks
/// are sent, and before anything is staged.
///
/// Requirements of different kinds are all to be met; of several of one kind, one is.
public struct StoreRequirements: Hashable, Sendable {
    /// Core Data models that the reader can open; empty for any store.
    public var models: [EntityModel] = []
    public var modelMatch = ModelMatch.exact
    /// Schemas that the reader knows, as `Protocol/README.md` section 4.5 defines their digest; empty for any.
    public var schemaDigests: [ContentDigest] = []
    /// What `PRAGMA user_version` may be; `nil` for anything.
    public var userVersions: ClosedRange<Int32>?

    /// How a store's entities have to be those of a model.
    public enum ModelMatch: Hashable, Sendable {
        /// The same, all of them: what Core Data opens without a migration.
        case exact
        /// Some of them: a store of one configuration of a model.
        case subset
    }

    /// Why a shipment is not welcome.
    public enum Objection: Error, Hashable, Sendable {
        /// It is no Core Data store, or one that does not say what its entities are.
        case noModel
        /// It is of another model: how it differs from the nearest that is required.
        case otherModel(ModelDifference, nearest: ForeignText)
        case otherSchema(ContentDigest)
        case otherUserVersion(Int32, required: ClosedRange<Int32>)
    }

    public init() {}

    /// - Returns: The model that the store is of, if one is required.
    public func admit(_ manifest: Manifest) throws(Objection) -> EntityModel? {
        let store = manifest.store
        guard schemaDigests.isEmpty || schemaDigests.contains(store.schemaSHA256) else {
            throw .otherSchema(store.schemaSHA256)
        }
        if let userVersions, !userVersions.contains(store.userVersion) {
            throw .otherUserVersion(store.userVersion, required: userVersions)
        }
        return models.isEmpty ? nil : try match(manifest.coreData)
    }

    private func match(_ facts: Manifest.CoreDataFacts?) throws(Objection) -> EntityModel {
        let hashes = facts?.entityVersionHashes.compactMapValues { Data(base64Encoded: $0).map(Array.init) } ?? [:]
        guard !hashes.isEmpty else { throw .noModel }
        let differences = models.map { (model: $0, difference: ModelDifference(of: hashes, from: $0)) }
        if let match = differences.first(where: { $0.difference.isAcceptable(modelMatch) }) { return match.model }
        guard let nearest = differences.min(by: { $0.difference.count < $1.difference.count }) else { throw .noModel }
        throw .otherModel(nearest.difference, nearest: nearest.model.name)
    }
}
