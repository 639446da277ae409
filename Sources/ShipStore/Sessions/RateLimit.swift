import Synchronization

/// Most bytes a second that go out, over all links that share it.
public final class RateLimit: Sendable {
    public let bytesPerSecond: Int
    /// When the bytes that were granted so far will have gone.
    private let granted = Mutex(ContinuousClock.now)

    /// How long what is granted at once takes.
    private static let step = Duration.milliseconds(50)

    /// - Parameter bytesPerSecond: At least 1.
    public init(bytesPerSecond: Int) { self.bytesPerSecond = max(1, bytesPerSecond) }

    /// Most bytes that are granted at once.
    var grant: Int { max(1, Int(Double(bytesPerSecond) * (Self.step / .seconds(1)))) }

    /// Waits until so many bytes may go.
    func wait(for count: Int) async throws {
        let duration = Duration.seconds(1) * (Double(count) / Double(bytesPerSecond))
        let start = granted.withLock { granted in
            let start = max(granted, .now)
            granted = start + duration
            return start
        }
        try await Task.sleep(until: start + duration)
    }
}
