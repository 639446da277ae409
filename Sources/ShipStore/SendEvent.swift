public import ShipProtocol
public import SystemPackage

/// An event while a producer sends.
public enum SendEvent: Hashable, Sendable {
    /// The consumer has greeted.
    case connected(String)
    /// The compact copy is taken.
    case copied(Manifest, Duration)
    /// Bytes of the parts that have been sent, and that are to be sent in all; bytes on the wire so far.
    case progress(done: Int64, total: Int64, wire: Int64)
    /// A shipment of this store that broke off is finished first: the next one builds on it.
    case finishing(Manifest)
    /// A part is resumed after the encoded bytes that the consumer has.
    case wentOn(StoreName, after: Int64)
    /// The store is sent again from its first byte, in another encoding.
    case startedAgain(RestartCause)
    /// The consumer has a later shipment of this device: the producer takes another copy, once.
    case overtaken(StoreName)
    /// The store is sent whole, although only its changes were to be sent.
    case goesWhole(StoreName, WholeShipment)
    /// The receiver may have dropped, since then, what its holdings file names.
    case mayBeGone(since: Timestamp)
    /// Everything has been sent; the consumer verifies and installs it.
    case awaitingReceipt
    /// A shipment has succeeded.
    case delivered(Delivery)
    /// A shipment has failed, or could not begin.
    case failed(StoreName, ShipmentError)
    /// A store is no longer followed, for this reason; others are.
    case unfollowed(StoreName, ShipmentError)
    /// The receiver of stores that are followed cannot be reached, or the connection broke; the follower tries again and again. Of a receiver
    /// that has connected itself: the connection broke.
    case disconnected(ShipmentError)
    /// The receiver is slow, and newer states of the store are to be sent to others: the session ends, and goes on where it broke off when the
    /// receiver connects again.
    case makesWay(StoreName)
    /// The inbox, from which shipments are passed on, has nothing of these stores yet, or nothing at all if none is named: what comes is passed
    /// on then.
    case awaits([StoreName], inbox: FilePath)
    /// An event of the listener.
    case listener(ListenerEvent)

    init(_ result: Result<Delivery, ShipmentError>, of name: StoreName) {
        switch result {
        case .success(let delivery): self = .delivered(delivery)
        case .failure(let failure): self = .failed(name, failure)
        }
    }
}

/// Why a store that was being sent in one encoding is sent in another one.
public enum RestartCause: Error, Hashable, Sendable {
    /// The consumer asked for it.
    case notMadeByConsumer
    /// The self-check found that the encoded data do not decode to the store.
    case selfCheckFailed
    /// The encoding would not give the store back byte for byte, or not be smaller.
    case unsuitable
    /// The link takes bytes faster than rows can be encoded.
    case fastLink
    /// The changes take no fewer bytes than the whole store.
    case largeDelta
    /// The remembered copy of the store that the consumer holds is damaged, or gone.
    case baseGone
    /// The part that an earlier session began cannot be resumed.
    case cannotGoOn
}

/// The outcome of a shipment.
public struct Delivery: Hashable, Sendable {
    public let manifest: Manifest
    /// The consumer's receipt; `nil` for a one-way shipment, which has none.
    public let receipt: Receipt?
    /// Bytes on the wire, from the producer.
    public let bytesSent: Int64
    /// How the store was sent; `nil` if no byte of it had to be sent.
    public let store: EncodedStore?
    /// From the first look at the store, or from the end of the shipment before in the same session, to the end.
    public let duration: Duration
}

/// A store as it was sent over a link.
public struct EncodedStore: Hashable, Sendable {
    public let encoding: PartEncoding
    /// Bytes of its encoded data, without frames and messages.
    public let bytes: Int64
}
