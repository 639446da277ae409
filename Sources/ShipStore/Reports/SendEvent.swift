public import ShipProtocol

/// What happens while a producer sends, as it happens.
public enum SendEvent: Hashable, Sendable {
    /// The consumer has greeted.
    case connected(String)
    /// The compact copy is taken.
    case copied(Manifest, Duration)
    /// Bytes of the parts that have been sent, and that are to be sent; bytes on the wire so far.
    case progress(done: Int64, total: Int64, wire: Int64)
    /// All has been sent; the consumer verifies and installs.
    case awaitingReceipt
}

/// What became of a shipment.
public struct Delivery: Hashable, Sendable {
    public let manifest: Manifest
    /// The consumer's word; `nil` for a one-way shipment, of which nobody says whether it arrived.
    public let receipt: Receipt?
    /// Bytes on the wire, from the producer.
    public let bytesSent: Int64
    /// From the first look at the store to the end.
    public let duration: Duration
}
