import ShipLinks
import ShipProtocol
import Synchronization
import Testing

private let patience = Duration.seconds(10)

@Suite struct `A link over a sequence and a closure` {
    private struct Cut: Error {}

    private func link(
        _ incoming: AsyncThrowingStream<[UInt8], any Error>,
        writing write: @escaping @Sendable ([UInt8]) async throws -> Void = { _ in }
    ) -> StreamLink {
        StreamLink(reading: incoming, writing: write, finish: {})
    }

    @Test func `gives what comes in order, then the end`() async throws {
        let (stream, sender) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        for piece in [[1, 2], [], [3]] as [[UInt8]] { sender.yield(piece) }
        sender.finish()
        let link = link(stream)
        #expect(try await link.read(within: patience) == [1, 2])
        #expect(try await link.read(within: patience) == [3])
        #expect(try await link.read(within: patience) == nil)
        #expect(try await link.read(within: patience) == nil)
    }

    @Test func `loses nothing by a reader that waits no longer, or is cancelled`() async throws {
        let (stream, sender) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let link = link(stream)
        await #expect(throws: LinkError.timedOut(.reading)) { try await link.read(within: .milliseconds(10)) }
        let reader = Task { try await link.read(within: patience) }
        reader.cancel()
        await #expect(throws: LinkError.cancelled) { try await reader.value }
        sender.yield([7])
        #expect(try await link.read(within: patience) == [7])
    }

    @Test func `gives what came before an error, and then that`() async throws {
        let (stream, sender) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        sender.yield([1])
        sender.finish(throwing: Cut())
        let link = link(stream)
        #expect(try await link.read(within: patience) == [1])
        await #expect(throws: LinkError.carrierFailed("Cut()")) { try await link.read(within: patience) }
    }

    @Test func `is at work as long as a piece is taken in time, however long all of it takes`() async throws {
        let (stream, _) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let taken = Mutex<[Int]>([])
        let link = link(stream) { piece in
            try await Task.sleep(for: .milliseconds(60))
            taken.withLock { $0.append(piece.count) }
        }
        let bytes = [UInt8](repeating: 1, count: 20 * StreamLink.mostWritten + 1)
        let start = ContinuousClock.now
        try await link.write(bytes, within: .seconds(1))
        #expect(ContinuousClock.now - start > .seconds(1))
        #expect(taken.withLock { $0 } == Array(repeating: StreamLink.mostWritten, count: 20) + [1])
        let (other, _) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let slow = self.link(other) { _ in try await Task.sleep(for: patience) }
        await #expect(throws: LinkError.timedOut(.writing)) { try await slow.write([1], within: .milliseconds(50)) }
    }

    @Test func `asks for no more than it may hold`() async throws {
        let asked = Counter()
        let stream = AsyncThrowingStream<[UInt8], any Error> {
            asked.next(); return [UInt8](repeating: 0, count: 65_536)
        }
        let link = link(stream)
        try await Task.sleep(for: .milliseconds(100))
        #expect(asked.count == StreamLink.readAhead / 65_536)
        _ = try await link.read(within: patience)
        try await Task.sleep(for: .milliseconds(100))
        #expect(asked.count == StreamLink.readAhead / 65_536 + 1)
    }

    @Test func `gives up a write that is not taken`() async throws {
        let (stream, _) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let link = link(stream, writing: { _ in try await Task.sleep(for: .seconds(60)) })
        await #expect(throws: LinkError.timedOut(.writing)) { try await link.write([1], within: .milliseconds(20)) }
    }

    @Test func `tells why a write failed`() async throws {
        let (stream, _) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let link = link(stream, writing: { _ in throw Cut() })
        await #expect(throws: LinkError.carrierFailed("Cut()")) { try await link.write([1], within: patience) }
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    func next() { value.withLock { $0 += 1 } }
}
