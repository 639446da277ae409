import ShipProtocol
import ShipTransport
import Synchronization

/// Sends frames over a link, and counts their bytes and how long the link took for them. Several tasks may send: a frame stays in one piece.
final class FrameWriter: Sendable {
    private let writer: LinkWriter
    private let timeouts: Timeouts
    private let count = Mutex<(bytes: Int64, waiting: Duration)>((0, .zero))

    init(_ writer: LinkWriter, _ timeouts: Timeouts) {
        self.writer = writer
        self.timeouts = timeouts
    }

    /// Bytes sent so far.
    var bytesSent: Int64 { count.withLock { $0.bytes } }

    /// How long the link has kept senders waiting so far.
    var timeWaited: Duration { count.withLock { $0.waiting } }

    func send(_ preamble: Preamble) async throws {
        try await send(preamble.encoded)
    }

    func send(_ frame: Frame) async throws {
        try await send(try frame.serialized())
    }

    /// Nothing more comes from this side.
    func finish() async throws {
        try await writer.finish()
    }

    /// Sends a last frame although the task is being cancelled, or the link may be gone.
    func sendLast(_ frame: Frame) async {
        guard let bytes = try? frame.serialized() else { return }
        let writer = writer
        // Not a child task: it must not be cancelled with the one that ends here.
        await Task { try? await writer.write(bytes, within: .seconds(1)) }.value
    }

    /// Runs work during which this side may have nothing else to say, and says just that from time to time, so that the
    /// other side goes on waiting.
    func whileWorking<Result>(_ work: () async throws -> Result) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while true {
                    try await Task.sleep(for: self.timeouts.heartbeat)
                    // A frame that has begun is finished: the end of the work must not cut it.
                    try await Task { try await self.send(.working) }.value
                }
            }
            // If the link broke, whatever the work does next on it says so.
            defer { group.cancelAll() }
            let result = try await work()
            group.cancelAll()
            while await group.nextResult() != nil {}
            return result
        }
    }

    private func send(_ bytes: [UInt8]) async throws {
        let start = ContinuousClock.now
        try await writer.write(bytes, within: timeouts.idle)
        let waited = .now - start
        count.withLock { $0 = ($0.bytes + Int64(bytes.count), $0.waiting + waited) }
    }
}
