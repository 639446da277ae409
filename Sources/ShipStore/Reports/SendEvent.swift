public import ShipProtocol

/// What happens while a producer sends, as it happens.
public enum SendEvent: Hashable, Sendable {
    /// The consumer has greeted.
    case connected(String)
    /// The compact copy is taken.
    case copied(Manifest, Duration)
    /// Bytes of the parts that have been sent, and that are to be sent; bytes on the wire so far.
    case progress(done: Int64, total: Int64, wire: Int64)
    /// A shipment of this store that broke off goes first: what has come of it is of use for the one that follows.
    case finishing(Manifest)
    /// A part goes on after so many bytes that the consumer has of it, as they were encoded.
    case wentOn(StoreName, after: Int64)
    /// The store is sent again from its first byte, in another encoding.
    case startedAgain(RestartCause)
    /// The consumer has a later shipment of this device: another copy is taken, once.
    case overtaken(StoreName)
    /// It goes whole, although it was to say what has changed.
    case goesWhole(StoreName, WholeShipment)
    /// The receiver may have let go of what it said that it holds, since then.
    case mayBeGone(since: Timestamp)
    /// All has been sent; the consumer verifies and installs.
    case awaitingReceipt
    /// A shipment is over, and well.
    case delivered(Delivery)
    /// A shipment is over, or never began.
    case failed(StoreName, ShipmentError)
}

/// Why a store that was being sent in one encoding is sent in another one.
public enum RestartCause: Hashable, Sendable {
    /// The consumer's word.
    case notMadeByConsumer
    /// What was encoded does not decode to the store, as the self-check found.
    case selfCheckFailed
    /// It would not come back byte for byte, or not be smaller.
    case unsuitable
    /// The link takes bytes faster than rows can be encoded.
    case fastLink
    /// So much has changed that all of it takes no more.
    case largeDelta
    /// What this side remembers of the store that the consumer holds is damaged, or gone.
    case baseGone
    /// What was sent in an earlier session cannot be gone on with.
    case cannotGoOn
}

/// What became of a shipment.
public struct Delivery: Hashable, Sendable {
    public let manifest: Manifest
    /// The consumer's word; `nil` for a one-way shipment, of which nobody says whether it arrived.
    public let receipt: Receipt?
    /// Bytes on the wire, from the producer.
    public let bytesSent: Int64
    /// How the store went; `nil` if none of it had to go.
    public let store: EncodedStore?
    /// To the end, from the first look at the store, or the end of the shipment before it in the same session.
    public let duration: Duration
}

/// A store as it went over a link.
public struct EncodedStore: Hashable, Sendable {
    public let encoding: PartEncoding
    /// Of its data, as encoded: frames, and what else was said, do not count.
    public let bytes: Int64
}
