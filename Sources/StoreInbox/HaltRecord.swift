package import ShipProtocol
import StoreFiles
import SystemPackage

/// That the publisher of a store has halted it: `halted.json`, beside the generations. It is for people, and nothing else depends on it.
package struct HaltRecord: Hashable, Sendable, Codable {
    /// By the publisher's clock.
    package let since: Timestamp

    package init(since: Timestamp) { self.since = since }
}

extension InboxFolder {
    /// - Returns: `nil` where there is none, or none that can be read.
    package func haltRecord(of name: StoreName) -> HaltRecord? {
        files.recordIfReadable(at: layout.haltRecord(name))
    }
}
