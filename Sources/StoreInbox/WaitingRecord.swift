package import EssentialFoundation
package import ShipProtocol
package import StoreFiles
package import SystemPackage

/// Of a shipment that broke off: whose it is, and since when it waits to be gone on with. `waiting.json` in its staging, beside its
/// manifest.
///
/// It counts for a day. As long as the system runs, its own clock says when that is over, which nobody sets; after another start the
/// clock of the day does, and a record from the future is over.
package struct WaitingRecord: Hashable, Sendable, Codable {
    /// The device that sends it; `nil` where nobody said which.
    package let producer: ContentDigest?
    /// When it was written last.
    package let at: Timestamp
    /// The same, as milliseconds since the system's start, and which start that was.
    private let atSinceStart: Int64
    private let start: String?

    package static let longest = Duration.seconds(24 * 60 * 60)
    /// Largest file that is read, in bytes.
    private static let sizeLimit: Int64 = 4096

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
        do {
            let file = try folder.file(at: path.appending(InboxLayout.waitingFile))
            let size = try file.size
            guard size <= Self.sizeLimit else { return nil }
            self = try JSONDecoder().decode(WaitingRecord.self, from: Data(try file.read(Int(size), at: 0)))
        } catch {
            return nil
        }
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
