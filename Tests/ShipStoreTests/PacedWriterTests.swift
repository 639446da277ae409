import ShipLinks
import ShipProtocol
import Synchronization
import Testing

@testable import ShipStore

/// Takes all bytes of a write at once.
private final class Taker: LinkWriter {
    private let taken = Mutex<[UInt8]>([])
    private let delay: Duration

    init(after delay: Duration = .zero) { self.delay = delay }

    var bytes: [UInt8] { taken.withLock { $0 } }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        do {
            if delay > .zero { try await Task.sleep(for: delay) }
        } catch {
            throw .cancelled
        }
        taken.withLock { $0 += bytes }
    }
    func finish() async throws(LinkError) {}
}

@Suite struct `A writer that goes no faster than a limit` {
    @Test(.timeLimit(.minutes(1))) func `sends what is left of a frame whose task is cancelled, and then the next one`()
        async throws
    {
        let taker = Taker()
        let writer = PacedWriter(writer: taker, limit: RateLimit(bytesPerSecond: 4000))
        let frame = Task { try await writer.write([UInt8](repeating: 1, count: 8000), within: .seconds(30)) }
        while taker.bytes.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        let late = Task { try await writer.write([3], within: .seconds(30)) }
        try await Task.sleep(for: .milliseconds(20))
        for task in [frame, late] {
            task.cancel()
            await #expect(throws: LinkError.cancelled) { try await task.value }
        }
        // What had not begun does not go.
        try await writer.write([2], within: .seconds(30))
        #expect(taker.bytes == [UInt8](repeating: 1, count: 8000) + [2])
    }
}

@Suite struct `A writer of padded frames` {
    @Test func `pads the last one, too`() async throws {
        for frame in [Frame.end, .cancel(Reason(.stopped, message: "it was stopped", ending: .session))] {
            let taker = Taker()
            await FrameWriter(taker, Timeouts(), isPadded: true).sendLast(frame)
            #expect(taker.bytes.count % Frame.paddingStep == 0 && !taker.bytes.isEmpty)
        }
    }
}

@Suite struct `A writer of frames` {
    /// Within a session, and with what ends it.
    @Test func `begins once, and before all else, though several tasks begin`() async throws {
        let taker = Taker(after: .milliseconds(20))
        let writer = FrameWriter(taker, Timeouts())
        let greeting = Task { try await writer.begin(as: .consumer, .twoWay) }
        let refusals = (0..<4).map { _ in
            Task {
                try await writer.begin(as: .consumer, .twoWay)
                await writer.sendLast(.end)
            }
        }
        try await greeting.value
        for task in refusals { try await task.value }
        let end = try Frame.end.serialized()
        #expect(taker.bytes == Preamble(role: .consumer, mode: .twoWay).encoded + (0..<4).flatMap { _ in end })
    }
    @Test(.timeLimit(.minutes(1))) func `does not wait for a link that takes nothing once it is cancelled`()
        async throws
    {
        let writer = FrameWriter(Taker(after: .seconds(600)), Timeouts())
        let greeting = Task { try await writer.begin(as: .consumer, .twoWay) }
        try await Task.sleep(for: .milliseconds(20))
        greeting.cancel()
        _ = await greeting.result
        #expect(writer.bytesSent == 0)
    }
}
