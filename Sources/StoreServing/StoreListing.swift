import ShipProtocol
import StoreFiles
import StoreInbox
import Synchronization

/// The stores of an inbox that have a current generation, sorted by name.
///
/// The folders are listed again when the one that holds them has changed; whether a store has a current generation is looked up each time.
final class StoreListing: Sendable {
    /// A change within this time of the listing may have been missed by it: the clock of file systems is coarse.
    private static let clockTick = Duration.seconds(1)

    private let inbox: Inbox
    private let listed = Mutex<(folder: FileStatus, names: [StoreName])?>(nil)

    init(of inbox: Inbox) { self.inbox = inbox }

    /// - Throws: `.noInbox`, `.file`.
    func current() throws(InboxError) -> [StoreName] {
        try names().filter { (try? PlatformCalls.statusFollowingLinks(of: inbox.layout.current($0))) != nil }
    }

    private func names() throws(InboxError) -> [StoreName] {
        let status = try? PlatformCalls.statusFollowingLinks(of: inbox.layout.depot)
        if let listed = listed.withLock({ $0 }), let status, listed.folder.identity == status.identity,
            listed.folder.modified == status.modified
        {
            return listed.names
        }
        let names = try inbox.storeNames()
        if let status, PlatformCalls.timeOfDay - status.modified > Self.clockTick {
            listed.withLock { $0 = (status, names) }
        }
        return names
    }
}
