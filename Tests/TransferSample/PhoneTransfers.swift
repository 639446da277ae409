import Foundation
import ShipStore
import ShipStoreTransfers

/// On the phone: keeps the watch up to date with the store.
final class PhoneTransfers: Sendable {
    let sender: TransferSender

    /// - Parameters:
    ///   - store: The SQLite file of the app's Core Data store.
    ///   - support: The app's folder for what no user sees.
    init(of store: URL, over session: some TransferSession, in support: URL) throws {
        var options = TransferSender.Options()
        options.producer.copy.profile.leavesOutHistory = true  // of no use on the watch
        sender = try TransferSender(
            of: [FilePath(store)], over: session,
            folder: FilePath(support.appendingPathComponent("Transfers")), options: options
        ) { event in print("to the watch:", event) }
    }
}
