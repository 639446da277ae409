public import ShipProtocol

/// Why a shipment does not follow on those that came before.
public enum SequenceFlaw: Error, Hashable, Sendable {
    /// Its counter is not above the highest seen.
    case replayed(counter: UInt64, highest: UInt64)
    /// It is passed on, and a later one of its device has come already.
    case overtaken(counter: UInt64, highest: UInt64)
    /// Its counter is so far above the highest seen that there would be no room above it.
    case tooFarAhead(counter: UInt64, highest: UInt64)
    /// Its copy was taken before the one that is current, and nothing says that it follows on that.
    case older(Timestamp, than: Timestamp)
    /// It has none, and the store's shipments have.
    case noCounter
    /// It has none, and comes from a device that is known: those of devices have one.
    case notCounted
    /// It does not say which device it is from, and the store's shipments are one's.
    case noDevice
    /// The store's shipments are another device's.
    case otherDevice
}
