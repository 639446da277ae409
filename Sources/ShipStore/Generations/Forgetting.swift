public import ShipProtocol
public import StoreInbox
import StoreInstall

/// The removal of a store from an inbox, with all its generations and all that is known of it: `forget`. A receiver may own
/// the inbox meanwhile; the next shipment of that name is a first one to it, from whatever trusted device it is.
public struct Forgetting: Hashable, Sendable {
    public let name: StoreName
    /// The numbers of the generations that have gone, the oldest first; empty where an earlier run was killed, and this one
    /// has done the rest.
    public let generations: [Int]
    /// Until when a sender was told in a file that one of them is held (`holdings`): what it sends for that file is refused.
    public let leasedUntil: Timestamp?

    /// All of it goes, or nothing.
    ///
    /// - Throws: `.install(.held)` if a reader holds a generation, or has let go of one within the last hour as its app was
    ///   suspended; `.install(.storeBusy)` if a shipment keeps coming in.
    public static func perform(on name: StoreName, in inbox: Inbox) async throws(ShipmentError) -> Forgetting {
        try await OperationRun.run(waiting: .zero) { _ in
            let folder = try inbox.open()
            let lease = folder.leaseRecord(of: name).flatMap { $0.isOver() ? nil : $0.until }
            return Forgetting(
                name: name, generations: try ForgottenStores(in: folder).forget(name), leasedUntil: lease)
        }
    }
}
