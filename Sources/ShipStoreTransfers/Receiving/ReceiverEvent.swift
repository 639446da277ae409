public import EssentialFoundation
public import ShipStore

/// What happens at the side that receives, as it happens.
public enum ReceiverEvent: Sendable {
    /// A shipment is installed, durable and current, or was so already.
    case installed(Receipt)
    /// A shipment came that was for another state of the inbox, as one that came late or twice: the sender was told what is held.
    case outdated(StoreName)
    /// A shipment was not let in; the sender was told.
    case refused(StoreName, ShipmentError)
    /// What is held could not be said, or not be put into a file. It is tried again at that time.
    case failed(ShipmentError, again: Date)
    /// What came was no message of the other half's, or could not be kept.
    case ignored(TransferMessageError)
}
