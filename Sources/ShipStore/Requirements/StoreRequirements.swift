import EssentialFoundation
public import ShipProtocol

/// The requirements of an inbox's reader on a shipment. The manifest alone decides, before blocks are sent and before anything is staged.
///
/// A shipment must meet one requirement of each kind.
public struct StoreRequirements: Hashable, Sendable {
    /// Core Data models that the reader can open; empty for any store.
    public var models: [EntityModel] = []
    /// Whether a store may have only some of a model's entities, as one of its configurations. Otherwise it must have all of them: what
    /// Core Data opens without a migration.
    public var takesModelSubset = false
    /// Schemas that the reader knows, as `Protocol/README.md` section 4.5 defines their digest; empty for any.
    public var schemaDigests: [ContentDigest] = []
    /// The range of `PRAGMA user_version`; `nil` for anything.
    public var userVersions: ClosedRange<Int32>?

    /// Why a shipment is refused.
    public enum Objection: Error, Hashable, Sendable {
        /// It is no Core Data store, or does not list its entities.
        case noModel
        /// It has another model: how it differs from the nearest required model.
        case otherModel(ModelDifference, nearest: ForeignText)
        case otherSchema(ContentDigest)
        case otherUserVersion(Int32, required: ClosedRange<Int32>)
    }

    public init() {}

    /// - Returns: The model of the store, if one is required.
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
        let match = differences.first { $0.difference.isAcceptable(asSubset: takesModelSubset) }
        if let match { return match.model }
        guard let nearest = differences.min(by: { $0.difference.count < $1.difference.count }) else { throw .noModel }
        throw .otherModel(nearest.difference, nearest: nearest.model.name)
    }
}
