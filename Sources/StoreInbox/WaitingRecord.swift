package import EssentialFoundation
package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Says of a shipment that broke off which device sent it, and since when it waits to be resumed. It is `waiting.json` in the
/// staging, beside the manifest.
///
/// It counts for a day. Until the system restarts, that day is one of the clock that runs since its start, which cannot be set;
/// after a restart the wall clock counts, and a record from the future has expired.
package struct WaitingRecord: Hashable, Sendable, Codable {
    /// The device that sends it; `nil` if it is unknown.
    package let producer: ContentDigest?
    /// When it was written last.
    package let at: Timestamp
    /// The same, as milliseconds since the system's start, and which start that was.
    private let atSinceStart: Int64
    private let start: String?

    package static let longest = Duration.seconds(24 * 60 * 60)

    package init(
        producer: ContentDigest?, at now: Date = Date(), sinceStart: Duration = PlatformCalls.timeSinceStart,
        start: String? = PlatformCalls.bootIdentifier
    ) {
        self.producer = producer
        at = Timestamp(now)
        atSinceStart = Int64(sinceStart / .milliseconds(1))
        self.start = start
    }

    /// - Returns: `nil` where there is none, or none that can be read.
    package init?(ofStagingAt path: FilePath, in folder: borrowing OpenFolder) {
        guard let record: Self = folder.recordIfReadable(at: path.appending(InboxLayout.waitingFile)) else {
            return nil
        }
        self = record
    }

    /// Whether it does not count any more.
    package func isOver(
        at now: Date = Date(), sinceStart: Duration = PlatformCalls.timeSinceStart,
        start: String? = PlatformCalls.bootIdentifier
    ) -> Bool {
        let age: Duration
        if let start, start == self.start {
            age = sinceStart - .milliseconds(atSinceStart)
        } else {
            age = .seconds(now.timeIntervalSince(at.date))
        }
        // Times are kept to the second.
        return age < .seconds(-1) || age > Self.longest
    }
}
