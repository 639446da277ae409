import ShipLinks
import ShipProtocol

/// Reads the preamble and the frames that come over a link.
struct FrameReader {
    /// When something must have come, whatever else comes until then, and the error if it has not.
    struct Deadline {
        let end: ContinuousClock.Instant
        let error: ShipmentError

        func check() throws {
            if .now >= end { throw error }
        }
    }

    private let reader: any LinkReader
    private let timeouts: Timeouts
    /// It also holds what manifests and answers may refer to, and the last manifest as it came.
    var parser = FrameParser()
    private var throughput: MinimumThroughput?
    private var bytesRead: Int64 = 0
    private let count: (@Sendable (Int) -> Void)?

    init(_ reader: any LinkReader, _ timeouts: Timeouts, counting count: (@Sendable (Int) -> Void)? = nil) {
        self.reader = reader
        self.timeouts = timeouts
        self.count = count
    }

    /// Bytes so far, without frames that have no content. Bytes of a frame count before the frame is complete.
    private var content: Int64 { bytesRead - parser.emptyBytes }

    /// From here on the other side only sends a shipment, of `size` bytes.
    mutating func expectSending(of size: Int64) { throughput = MinimumThroughput(timeouts, for: size, after: content) }

    /// The shipment is over, and the other side may take its time.
    mutating func expectNothing() { throughput = nil }

    /// The next element.
    ///
    /// - Parameters:
    ///   - silence: How long nothing may come; `nil` for `Timeouts.idle`.
    ///   - deadline: When the awaited element must be complete, whatever elements come before it; without one, only silence is limited.
    ///     Evaluated again each time something has come.
    /// - Returns: `nil` if the other side has ended its stream between two frames.
    mutating func next(
        within silence: Duration? = nil, by deadline: @autoclosure () -> Deadline? = nil
    ) async throws -> FrameParser.Element? {
        while true {
            let deadline = deadline()
            try deadline?.check()
            if let element = try parser.next() { return element }
            let content = content
            try throughput?.check(content)
            guard try await readOn(within: silence ?? timeouts.idle, until: deadline) else {
                try parser.finish()
                return nil
            }
        }
    }

    /// The next element, however long it takes: nobody waits for it. Cancellation loses nothing.
    mutating func nextAtAnyTime() async throws -> FrameParser.Element? {
        while true {
            do {
                return try await next()
            } catch LinkError.timedOut(.reading) {
                continue
            }
        }
    }

    /// - Returns: Whether the stream goes on.
    private mutating func readOn(within silence: Duration, until deadline: Deadline?) async throws -> Bool {
        let start = ContinuousClock.now
        let timeLeft = deadline.map { max(.zero, $0.end - start) } ?? silence
        do {
            guard let bytes = try await reader.next(within: min(silence, timeLeft)) else { return false }
            throughput?.wait(.now - start)
            bytesRead += Int64(bytes.count)
            count?(bytes.count)
            parser.append(bytes)
        } catch {
            // The caller throws the deadline's error, which says more.
            guard case .timedOut = error, timeLeft < silence else { throw error }
        }
        return true
    }
}

/// Finds a sender that only keeps a link open: while the reader waits, enough content must come.
///
/// Only the time that the reader waits counts, so that a reader that has work to do does not find the link slow. Frames without content do
/// not count, however many come.
private struct MinimumThroughput {
    private let bytesPerSecond: Int
    private let window: Duration
    private var waited = Duration.zero
    /// Bytes of content that had come when the window began.
    private var bytesBefore: Int64

    init(_ timeouts: Timeouts, for size: Int64, after content: Int64) {
        bytesPerSecond = timeouts.minimumRate
        window = timeouts.rateWindow(for: size)
        bytesBefore = content
    }

    mutating func wait(_ time: Duration) { waited += time }

    mutating func check(_ content: Int64) throws(LinkError) {
        guard waited >= window else { return }
        guard Double(content - bytesBefore) >= max(1, Double(bytesPerSecond) * (waited / .seconds(1))) else {
            throw .tooSlow(bytesPerSecond: bytesPerSecond)
        }
        (bytesBefore, waited) = (content, .zero)
    }
}
