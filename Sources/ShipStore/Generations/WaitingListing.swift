public import DeviceTrust
public import ShipProtocol
public import StoreInbox
import StoreInstall

/// The shipments of an inbox that broke off, and wait for the rest of what they bring: `list`.
public struct WaitingEntry: Hashable, Sendable {
    public let manifest: Manifest
    /// The device that sends it; `nil` where nobody said which.
    public let producer: DeviceIdentifier?
    /// Bytes of it that have come: of files that are whole, and of the last one as it was encoded.
    public let bytes: Int64
    /// When something came last, by this device's clock.
    public let since: Timestamp
}

extension InboxListing {
    /// - Returns: Sorted by name.
    public static func waiting(in inbox: Inbox) throws(ShipmentError) -> [WaitingEntry] {
        do throws(InboxError) {
            let waiting = WaitingShipments(in: try inbox.open())
            return try inbox.storeNames().flatMap { waiting.all(of: $0) }.map { found in
                WaitingEntry(
                    manifest: found.manifest,
                    producer: found.record.producer.flatMap { DeviceIdentifier(bytes: $0.bytes) }, bytes: found.bytes,
                    since: found.record.at)
            }
        } catch {
            throw .install(error)
        }
    }
}
