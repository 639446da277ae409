import ShipProtocol
import StoreEncoding
import Synchronization
import TestSupport
import Testing

@testable import ShipStore

/// One delta for all receivers that hold the same base.
@Suite struct EncodedDeltasTests {
    private let deltas = EncodedDeltas()

    /// How often each delta was encoded.
    private final class Counts: Sendable {
        private let counts = Mutex<[Int: Int]>([:])
        func add(_ kind: Int) { counts.withLock { $0[kind, default: 0] += 1 } }
        var all: [Int: Int] { counts.withLock { $0 } }
    }

    private static func base(_ number: UInt8) -> ContentDigest { ContentDigest(hashing: [number]) }

    /// Segments of so many bytes.
    private static func segments(_ sizes: [Int]) -> [EncodedSegment] {
        sizes.enumerated().map { index, size in
            EncodedSegment(
                bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: size), storeBytes: 1,
                isLast: index == sizes.count - 1)
        }
    }

    @Test func `many receivers get it, and it is encoded once for each base`() async throws {
        let seed = UInt64.random(in: 0..<1 << 32)
        var random = RepeatableRandom(seed: seed)
        let sizes = (0..<4).map { _ in
            (0..<Int.random(in: 1...5, using: &random)).map { _ in Int.random(in: 1...9000, using: &random) }
        }
        let encoded = Counts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for receiver in 0..<40 {
                let kind = receiver % 4
                group.addTask { [deltas] in
                    let got = Mutex<[EncodedSegment]>([])
                    let wanted = Self.segments(sizes[kind])
                    try await deltas.deliver(over: Self.base(UInt8(kind)), limit: .max) { segment in
                        got.withLock { $0.append(segment) }
                    } encoding: { put in
                        encoded.add(kind)
                        for segment in wanted {
                            await Task.yield()
                            try await put(segment)
                        }
                    }
                    #expect(got.withLock { $0 } == wanted, "seed \(seed)")
                }
            }
            try await group.waitForAll()
        }
        #expect(encoded.all == [0: 1, 1: 1, 2: 1, 3: 1], "seed \(seed)")
    }

    /// The link of the first takes nothing until the second has all: if that waited, both would wait for ever.
    @Test(.timeLimit(.minutes(1)), arguments: [[10, 20], [600_000, 600_000, 600_000]])
    func `nobody waits for another one's link`(sizes: [Int]) async throws {
        let wanted = Self.segments(sizes)
        let (isReady, ready) = AsyncStream<Void>.makeStream()
        let (hasBegun, begun) = AsyncStream<Void>.makeStream()
        let first = Task { [deltas] in
            try await deltas.deliver(over: Self.base(1), limit: .max) { _ in
                begun.yield()
                for await _ in isReady { break }
            } encoding: { put in
                for segment in wanted { try await put(segment) }
            }
        }
        for await _ in hasBegun { break }
        let got = Mutex<[EncodedSegment]>([])
        try await deltas.deliver(over: Self.base(1), limit: .max) { segment in
            got.withLock { $0.append(segment) }
        } encoding: { put in
            for segment in wanted { try await put(segment) }
        }
        #expect(got.withLock { $0 } == wanted)
        ready.finish()
        try await first.value
    }

    @Test func `what could not be encoded is tried by the next, and who is cancelled waits no longer`() async throws {
        struct Broken: Error {}
        let wanted = Self.segments([100])
        await #expect(throws: Broken.self) {
            try await deltas.deliver(over: Self.base(2), limit: .max) { _ in
            } encoding: { _ in
                throw Broken()
            }
        }
        let (isReady, ready) = AsyncStream<Void>.makeStream()
        let encoding = Task { [deltas] in
            try await deltas.deliver(over: Self.base(2), limit: .max) { _ in
            } encoding: { put in
                for await _ in isReady { break }
                try await put(wanted[0])
            }
        }
        let waiting = Task { [deltas] in
            try await deltas.deliver(over: Self.base(2), limit: .max) { _ in
            } encoding: { _ in
                throw Broken()
            }
        }
        waiting.cancel()
        await #expect(throws: (any Error).self) { try await waiting.value }
        ready.finish()
        try await encoding.value
        await #expect(throws: EncodingFailure.tooLarge) {
            try await deltas.deliver(over: Self.base(2), limit: 99) { _ in
            } encoding: { _ in
                throw Broken()
            }
        }
    }
}
