public import DeviceTrust
public import ShipProtocol
public import StoreServing

/// What happens while a consumer receives, as it happens.
public enum ReceiveEvent: Hashable, Sendable {
    /// Connections are accepted at this address.
    case listening(String)
    case connected(String)
    /// A shipment comes from the standard input, which is this.
    case reading(StandardInput)
    /// This code is waited for.
    case pairing(PairingCode)
    case paired(TrustedPeer)
    /// Somebody at this address connected who may not.
    case turnedAway(String, ShipmentError)
    case offered(Manifest)
    /// This device has signed what was offered.
    case signed(by: DeviceIdentifier)
    /// It is a store of this model, of those that are required.
    case admitted(model: ForeignText)
    /// Bytes of the parts, decoded: so far, and in all.
    case progress(done: Int64, total: Int64)
    /// A part goes on where an earlier session left it: bytes of the parts as in `progress`, as of now.
    case wentOn(done: Int64, total: Int64)
    /// All bytes are there: they are synced, read back and checked.
    case verifying
    /// The store is sound, and the one that its manifest describes.
    case checked(CheckReport)
    /// The store could not be made from its rows: the producer is asked for it as it is.
    case askedAgain
    case finished(Receipt, Duration)
    case failed(ShipmentError)
}

/// What the standard input of a process is.
public enum StandardInput: String, Hashable, Sendable {
    /// A file, or a device: what is in it may be from anybody, and of any time.
    case file
    /// A pipe or a socket: somebody speaks now.
    case stream
}
