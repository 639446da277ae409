import ShipLinks
import ShipProtocol
import Synchronization

/// Sends frames over a link, and counts their bytes and how long the link took. Several tasks may send: each frame goes in one piece.
final class FrameWriter: Sendable {
    private let writer: any LinkWriter
    private let timeouts: Timeouts
    private let count = Mutex<(bytes: Int64, waiting: Duration, last: ContinuousClock.Instant)>((0, .zero, .now))
    /// For how long the other side may take no byte.
    private let idleLimit: Mutex<Duration>
    /// The certificate that went last: the same one does not go again.
    private let certificate = Mutex<[UInt8]>([])

    /// Sends the preamble.
    private let beginning = Mutex<Task<Void, any Error>?>(nil)

    /// Whether each frame is padded, so that its length says less.
    private let isPadded: Bool

    init(_ writer: any LinkWriter, _ timeouts: Timeouts, isPadded: Bool = false) {
        self.writer = writer
        self.isPadded = isPadded
        self.timeouts = timeouts
        idleLimit = Mutex(timeouts.idle)
    }

    var bytesSent: Int64 { count.withLock { $0.bytes } }

    /// How long the link has kept senders waiting so far.
    var timeWaited: Duration { count.withLock { $0.waiting } }

    /// The other side says from here on that it is at work, and may take no byte for as long as a shipment of this size may cost it.
    func expectWork(on size: Int64) { idleLimit.withLock { $0 = max($0, timeouts.rateWindow(for: size)) } }

    /// Sends the preamble, unless another task has begun to: then it waits until that has gone.
    ///
    /// - Throws: Where one of these tasks is cancelled first, for all of them: nobody knows whether it has gone.
    func begin(as role: Preamble.Role, _ mode: Preamble.Mode) async throws {
        let beginning = beginning.withLock { beginning in
            // It is always the same: padding would hide nothing.
            let first = beginning ?? Task { try await send(Preamble(role: role, mode: mode).encoded, isPadded: false) }
            beginning = first
            return first
        }
        try await withTaskCancellationHandler {
            try await beginning.value
        } onCancel: {
            beginning.cancel()
        }
    }

    func send(_ frame: Frame, answering offer: [ManifestContent] = []) async throws {
        try await send(try frame.serialized(answering: offer))
    }

    /// - Returns: The offer, to which answers may refer.
    func offer(_ manifest: Manifest, over base: ManifestContent?, mustRefer: Bool) async throws -> [ManifestContent] {
        let (bytes, offer) = try Frame.offer(manifest, over: base, mustRefer: mustRefer)
        try await send(bytes)
        return offer
    }

    /// Sends a manifest as it was signed, with its signature.
    ///
    /// - Returns: The offer, to which answers may refer.
    func offer(_ signed: SignedManifest) async throws -> [ManifestContent] {
        let last = certificate.withLock { certificate in
            defer { certificate = signed.signature.certificate }
            return certificate
        }
        try await send(try signed.encoded(after: last))
        return ManifestContent.offer(of: signed.manifest, over: nil)
    }

    /// Ends this side's stream.
    func finish() async throws {
        try await writer.finish()
    }

    /// Sends a last frame, even if the task is cancelled; the link may be broken.
    func sendLast(_ frame: Frame) async {
        guard let bytes = try? padded(frame.serialized(), isPadded) else { return }
        // An unstructured task is not cancelled with this one.
        await Task { try? await self.write(bytes, within: .seconds(1), total: .seconds(2)) }.value
    }

    /// Runs work, and sends WORKING from time to time, so that the other side goes on waiting.
    ///
    /// - Parameter interval: The longest time without a frame; `nil` for the usual one.
    func whileWorking<Result>(every interval: Duration? = nil, _ work: () async throws -> Result) async throws -> Result
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.keepSayingWorking(every: interval) }
            // If the link breaks, the work finds that out when it uses the link.
            defer { group.cancelAll() }
            let result = try await work()
            group.cancelAll()
            while await group.nextResult() != nil {}
            return result
        }
    }

    /// Sends WORKING from time to time, until the task is cancelled, or the link breaks.
    func keepSayingWorking(every interval: Duration? = nil) async throws -> Never {
        while true {
            let due = count.withLock { $0.last } + (interval ?? timeouts.heartbeat)
            guard due <= .now else {
                try await Task.sleep(until: due)
                continue
            }
            // Cancellation does not cut the frame: a link that has taken a frame sends all of it.
            try await send(.working)
        }
    }

    private func send(_ message: [UInt8]) async throws { try await send(message, isPadded: isPadded) }

    private func send(_ message: [UInt8], isPadded: Bool) async throws {
        let bytes = padded(message, isPadded)
        let start = ContinuousClock.now
        try await write(bytes)
        let waited = .now - start
        count.withLock { $0 = ($0.bytes + Int64(bytes.count), $0.waiting + waited, .now) }
    }

    /// One write for both: an observer of the line could tell two writes apart.
    private func padded(_ message: [UInt8], _ isPadded: Bool) -> [UInt8] {
        isPadded ? Frame.padding(before: message.count) + message : message
    }

    /// - Throws: `LinkError.timedOut(.writing)` if the link takes no byte for too long, or fewer bytes a second than `minimumRate`.
    private func write(_ bytes: [UInt8]) async throws {
        let limit = idleLimit.withLock { $0 }
        guard timeouts.minimumRate > 0 else { return try await writer.write(bytes, within: limit) }
        let time = Duration.seconds(Double(bytes.count) / Double(timeouts.minimumRate))
        try await write(bytes, within: limit, total: limit + time)
    }

    private func write(_ bytes: [UInt8], within limit: Duration, total: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [writer] in try await writer.write(bytes, within: limit) }
            group.addTask {
                try await Task.sleep(for: total.bounded)
                throw LinkError.timedOut(.writing)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
