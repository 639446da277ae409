import Foundation
import ShipStore
import ShipStoreTransfers

/// On the watch: takes in what comes from the phone.
final class WatchTransfers: Sendable {
    let receiver: TransferReceiver
    let recipes: Recipes

    init(over session: some TransferSession, in support: URL) throws {
        let consumer = try Consumer(inbox: FilePath(support.appendingPathComponent("Inbox")))
        receiver = try TransferReceiver(
            into: consumer, over: session, folder: FilePath(support.appendingPathComponent("Transfers"))
        ) { event in print("from the phone:", event) }
        recipes = Recipes(in: consumer.coordinator)
    }
}
