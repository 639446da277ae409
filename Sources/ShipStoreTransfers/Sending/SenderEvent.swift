public import EssentialFoundation
public import ShipStore

/// What happens at the side that sends, as it happens.
public enum SenderEvent: Sendable {
    /// The receiver was asked what it holds.
    case asked
    /// A shipment was made and handed to the session.
    case began(StoreName, Delivery)
    /// The receiver has installed what was sent, or had it already.
    case arrived(StoreName)
    /// The receiver holds the newest content already: nothing is sent.
    case upToDate(StoreName)
    /// Something else was current at the receiver than was thought: another shipment is made.
    case outdated(StoreName)
    /// The receiver has refused a shipment. It is sent in another form, or the same again at that time, or not before the store
    /// changes.
    case refused(StoreName, Reason, again: Date?)
    /// A copy could not be taken, or a shipment not be made. It is tried again at that time.
    case failed(StoreName, ShipmentError, again: Date)
    /// The session could not deliver a shipment, for that reason. It is tried again at that time.
    case undelivered(StoreName, ForeignText, again: Date)
    /// What came was no message of the other half's.
    case ignored(TransferMessageError)
    /// What this half knows could not be written down; it goes on, and asks after the next start of the app.
    case cannotRemember(FileError)
}
