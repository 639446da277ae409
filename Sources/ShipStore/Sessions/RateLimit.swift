import ShipLinks
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
    fileprivate var grant: Int { max(1, Int(Double(bytesPerSecond) * (Self.step / .seconds(1)))) }

    /// Waits until so many bytes may go.
    ///
    /// - Throws: `CancellationError`.
    fileprivate func wait(for count: Int) async throws {
        let duration = Duration.seconds(1) * (Double(count) / Double(bytesPerSecond))
        let start = granted.withLock { granted in
            let start = max(granted, .now)
            granted = start + duration
            return start
        }
        try await Task.sleep(until: start + duration)
    }
}

/// A writer that sends no faster than a limit allows, and in small pieces, so that the peer is never without a byte for long.
struct PacedWriter: LinkWriter {
    private let writer: any LinkWriter
    private let limit: RateLimit
    /// The bytes of one call stay together.
    private let turns = Turns<Int>()

    init(_ writer: any LinkWriter, _ limit: RateLimit) { (self.writer, self.limit) = (writer, limit) }

    func write(_ bytes: [UInt8], within time: Duration) async throws(LinkError) {
        do {
            let turn = try await turns.take(0)
            defer { withExtendedLifetime(turn) {} }
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = rest.prefix(limit.grant)
                rest = rest.dropFirst(piece.count)
                try await limit.wait(for: piece.count)
                try await writer.write(Array(piece), within: time)
            }
        } catch let error as LinkError {
            throw error
        } catch {
            throw .cancelled
        }
    }

    func finish() async throws(LinkError) { try await writer.finish() }
}
