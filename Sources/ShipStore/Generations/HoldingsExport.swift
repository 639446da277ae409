import DeviceTrust
import EssentialFoundation
public import ShipProtocol
public import StoreInbox
import StoreInstall

/// What an inbox holds of one sender, as a file for that sender: `holdings`.
public enum HoldingsExport {
    /// Names the current generation of each store that came from the sender, and keeps it from being pruned.
    ///
    /// - Parameters:
    ///   - inbox: It must be there.
    ///   - sender: Its device; `nil` for senders whose device is not known.
    ///   - receiver: This device.
    ///   - duration: For how long what is named stays.
    /// - Throws: `.install`, among others with `.storeBusy` if somebody else does not come to an end.
    public static func make(
        of inbox: Inbox, for sender: DeviceIdentifier?, by receiver: Device, holding duration: Duration
    ) throws(ShipmentError) -> HoldingsFile {
        let own = try receiver.existingIdentity()?.id
        let now = Date()
        let until = Timestamp(now.addingTimeInterval(duration / .seconds(1)))
        let producer = sender.map { ContentDigest(sha256: $0.bytes) }
        var held: [HoldingsFile.Held] = []
        func file() -> HoldingsFile {
            HoldingsFile(
                software: Software.name, createdAt: Timestamp(now), until: until, sender: producer,
                receiver: own.map { ContentDigest(sha256: $0.bytes) }, holds: held)
        }
        do throws(InboxError) {
            for name in try inbox.storeNames().prefix(Limits.holdings) {
                // Waiting for others takes turns: each store has its own.
                let custody = try StoreCustody(of: name, in: inbox)
                guard let generation = try custody.leaseCurrent(from: producer, until: until) else { continue }
                held.append(HoldingsFile.Held(of: generation.manifest))
                if file().encoded.count >= Limits.messageSize {
                    // Beyond what a file may be nothing is named.
                    held.removeLast()
                    break
                }
            }
        } catch {
            throw .install(error)
        }
        return file()
    }
}
