public import DeviceTrust
public import ShipLinks
public import ShipProtocol

/// A fault of a publication, or an obstacle to one.
public enum PublicationError: Error, Hashable, Sendable {
    /// Nothing has been published there.
    case nothingThere(Endpoint)
    /// The object in the place of the head is none.
    case badHead(Endpoint, ProtocolError)
    /// The signature of the head is not that of a device.
    case badSignature(Endpoint, SignatureError)
    /// An object is not the one that the head names: it is damaged, cut off, or was exchanged.
    case badObject(Endpoint, ContentDigest)
    /// A shipment of a store is another one than the publisher says.
    case badStep(Endpoint, StoreName)
    /// An object that the head names is not there.
    case objectGone(Endpoint, ContentDigest)
    /// Another device has published there before.
    case otherPublisher(Endpoint, DeviceIdentifier)
    /// This device has published there before, and has named another one that goes on.
    case handedOver(Endpoint, to: DeviceIdentifier)
    /// A store is not among those that are published there.
    case notPublished(Endpoint, StoreName, besides: [StoreName])
    /// Another publication of the same device lies there than before.
    case otherPublication(Endpoint)
    /// The head is older than one that was there before.
    case wentBack(Endpoint, from: UInt64, to: UInt64)
    /// The publisher has not said for too long that this is its newest state.
    case expired(Endpoint, since: Timestamp)
    /// No steps lead from what is held, or from nothing, to the newest content.
    case noWay(Endpoint, StoreName)
    /// The publication is encrypted, and not for this device.
    case notARecipient(Endpoint)
    /// The publication is encrypted, and nobody has said for whom it is to be.
    case encrypted(Endpoint)
    /// The publication is to be encrypted for others than it is, and these stores are published there too.
    case otherRecipients(Endpoint, also: [StoreName])
    /// All that is published there goes anew, and these stores would be left out.
    case incomplete(Endpoint, without: [StoreName])
    /// Another program goes on publishing there.
    case contended(Endpoint)
    /// A store that is published has no room in the head or in its catalog.
    case tooMany(Endpoint)
    /// The folder is that of a publication, or of its objects: an inbox there would be shown to all who may read it.
    case notAnInbox(Endpoint)
    /// One cannot publish there, only receive from there.
    case cannotPublish(Endpoint)
    /// The storage does not honour conditions on writing, so that two publishers could replace each other's heads.
    case ignoresConditions(Endpoint)
    /// No keys of the storage are known.
    case noCredentials
    /// The setting for the storage's server is no URL, or no region.
    case badStorage(ForeignText)
    /// The storage answers with this status, and a word of its own.
    case storage(Endpoint, Int, ForeignText)
    /// The server answers with this status.
    case status(Endpoint, Int)
    /// The server's answer is none.
    case badAnswer(Endpoint)
}
