public import ShipProtocol
import StoreInbox

/// One generation in the place of another.
public struct GenerationChange: Hashable, Sendable {
    /// The last one that was told; `nil` if there was none, or if it is not kept any more: then the difference has no tables.
    public let from: GenerationStamp?
    public let to: GenerationStamp
    /// The difference of `to` from `from`, both ways.
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
