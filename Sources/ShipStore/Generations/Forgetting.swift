public import ShipProtocol
public import StoreInbox
import StoreInstall

/// The removal of a store from an inbox, with all its generations and all records of it: `forget`. A receiver may use the inbox
/// meanwhile; it treats the next shipment of that name as the first, from any trusted device.
public struct Forgetting: Hashable, Sendable {
    public let name: StoreName
    /// The numbers of the removed generations, the oldest first; empty where this run has only finished an earlier one that was killed.
    public let generations: [Int]
    /// Until when a holdings file promised a sender that one of them stays: what it sends for that file is refused.
    public let leasedUntil: Timestamp?

    /// Removes all of it, or nothing.
    ///
    /// - Throws: `.install(.held)` if a reader holds a generation, or released one within the last hour because its app was
    ///   suspended; `.install(.storeBusy)` if a shipment keeps coming in.
    public static func perform(on name: StoreName, in inbox: Inbox) async throws(ShipmentError) -> Forgetting {
        try await LocalStore.run(waiting: .zero) { _ in
            let folder = try inbox.open()
            let lease = folder.leaseRecord(of: name).flatMap { $0.isOver() ? nil : $0.until }
            var generations: [Int] = []
            do throws(InboxError) {
                generations = try folder.forget(name)
                _ = folder.removeFailure(of: name)
            } catch {
                // It may be that all there was of it is that it was refused.
                guard case .noSuchStore = error, folder.removeFailure(of: name) else { throw error }
            }
            return Forgetting(name: name, generations: generations, leasedUntil: lease)
        }
    }
}
