import ShipLinks
import ShipProtocol
import Synchronization

/// Sends frames over a link, and counts their bytes and how long the link took for them. Several tasks may send: a frame stays in one piece.
final class FrameWriter: Sendable {
    private let writer: LinkWriter
    private let timeouts: Timeouts
    private let count = Mutex<(bytes: Int64, waiting: Duration)>((0, .zero))
    /// How long the other side may take nothing at all.
    private let patience: Mutex<Duration>

    /// Whether lengths are made to say little.
    private let isPadded: Bool

    init(_ writer: LinkWriter, _ timeouts: Timeouts, isPadded: Bool = false) {
        self.writer = writer
        self.isPadded = isPadded
        self.timeouts = timeouts
        patience = Mutex(timeouts.idle)
    }

    /// Bytes sent so far.
    var bytesSent: Int64 { count.withLock { $0.bytes } }

    /// How long the link has kept senders waiting so far.
    var timeWaited: Duration { count.withLock { $0.waiting } }

    /// The other side says from here on that it is there, even while it has work to do for which it takes nothing: all that
    /// a shipment of so many bytes may cost.
    func expectWork(on size: Int64) { patience.withLock { $0 = max($0, timeouts.rateWindow(for: size)) } }

    func send(_ preamble: Preamble) async throws {
        // It says the same each time.
        try await send(preamble.encoded, isPadded: false)
    }

    /// - Parameter offer: What an answer or a receipt is about.
    func send(_ frame: Frame, answering offer: OfferedManifest? = nil) async throws {
        try await send(try frame.serialized(answering: offer))
    }

    /// Sends a manifest.
    ///
    /// - Parameter base: What it may refer to.
    /// - Returns: What answers to it may refer to.
    func offer(_ manifest: Manifest, over base: ManifestContent?) async throws -> OfferedManifest {
        let (bytes, offer) = try Frame.offer(manifest, over: base)
        try await send(bytes)
        return offer
    }

    /// Nothing more comes from this side.
    func finish() async throws {
        try await writer.finish()
    }

    /// Sends a last frame although the task is being cancelled, or the link may be gone.
    func sendLast(_ frame: Frame) async {
        guard let bytes = try? frame.serialized() else { return }
        // Not a child task: it must not be cancelled with the one that ends here.
        await Task { try? await self.write(bytes, within: .seconds(1), inAll: .seconds(2)) }.value
    }

    /// Runs work during which this side may have nothing else to say, and says just that from time to time, so that the
    /// other side goes on waiting.
    func whileWorking<Result>(_ work: () async throws -> Result) async throws -> Result {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.keepSayingWorking() }
            // If the link broke, whatever the work does next on it says so.
            defer { group.cancelAll() }
            let result = try await work()
            group.cancelAll()
            while await group.nextResult() != nil {}
            return result
        }
    }

    /// Says from time to time that this side is at work, until the task is cancelled, or the link breaks.
    func keepSayingWorking() async throws -> Never {
        while true {
            try await Task.sleep(for: timeouts.heartbeat)
            // The end of the work does not cut it: a link that has taken a frame sends it whole, even if nobody waits for that
            // any more.
            try await send(.working)
        }
    }

    private func send(_ message: [UInt8]) async throws { try await send(message, isPadded: isPadded) }

    private func send(_ message: [UInt8], isPadded: Bool) async throws {
        // In one write: what goes by itself is seen by itself.
        let bytes = isPadded ? Padding.frame(before: message.count) + message : message
        let start = ContinuousClock.now
        try await write(bytes)
        let waited = .now - start
        count.withLock { $0 = ($0.bytes + Int64(bytes.count), $0.waiting + waited) }
    }

    /// A link that takes less than the least rate is given up, as one from which less comes.
    private func write(_ bytes: [UInt8]) async throws {
        let patience = patience.withLock { $0 }
        guard timeouts.leastRate > 0 else { return try await writer.write(bytes, within: patience) }
        let time = Duration.seconds(Double(bytes.count) / Double(timeouts.leastRate))
        try await write(bytes, within: patience, inAll: patience + time)
    }

    private func write(_ bytes: [UInt8], within patience: Duration, inAll limit: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [writer] in try await writer.write(bytes, within: patience) }
            group.addTask {
                try await Task.sleep(for: limit)
                throw LinkError.timedOut(.writing)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
