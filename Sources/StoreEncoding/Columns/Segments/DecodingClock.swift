import Synchronization

/// How long decoders may take that share it, as those of all shipments of a session do that does not stay.
package final class DecodingClock: Sendable {
    /// Bytes that the slowest device decodes in a second.
    private static let slowestBytes = 1_000_000.0

    private let limit: Duration
    private let spent = Mutex(Duration.zero)

    /// - Parameter limit: Beside the time that the bytes of the parts, and those of what they make, take the slowest device.
    package init(limit: Duration) { self.limit = limit }

    package func beginAnew() { spent.withLock { $0 = .zero } }

    func add(_ time: Duration, for bytes: Int64) -> Bool {
        spent.withLock {
            $0 += time - .seconds(Double(bytes) / Self.slowestBytes)
            return $0 <= limit
        }
    }
}
