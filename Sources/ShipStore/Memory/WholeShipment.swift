/// Why a one-way shipment carries all of a store although it was to carry what has changed.
public enum WholeShipment: Error, Hashable, Sendable {
    /// The receiver holds nothing of this store, or nothing from this sender.
    case notHeld
    /// The receiver's copy is from another sender, or the earlier shipment is another one's.
    case otherSender
    /// This side no longer has a copy of what the receiver holds.
    case notRemembered
    /// The earlier shipment does not contain this store.
    case notInShipment
}
