import Synchronization

/// A link over messages that may come late, twice, or out of order, but are never lost, as those of WatchConnectivity and
/// MultipeerConnectivity.
///
/// The first 8 bytes of each message are its number (big-endian), from 0 on; the rest is content. A message without content is the
/// sender's last. This framing is no part of ship-store's protocol: both ends of the link must be of this type.
public final class MessageLink: Link {
    /// Bytes of a message that are not content.
    public static let overhead = 8
    /// How far a message may come ahead of the next one in order.
    static let mostEarly = 64

    private let stream: StreamLink
    private let size: Int
    private let next = Atomic<UInt64>(0)
    private let isFinished = Atomic(false)
    private let send: @Sendable ([UInt8]) async throws -> Void

    /// - Parameters:
    ///   - incoming: The messages of the other side, one an element.
    ///   - size: Longest message to send or to accept, in bytes; more than `overhead`.
    ///   - send: Sends a message, and returns when there is room for the next.
    public init<Incoming: AsyncSequence & Sendable>(
        receiving incoming: Incoming, atMost size: Int = 64 * 1024,
        sending send: @escaping @Sendable ([UInt8]) async throws -> Void
    ) where Incoming.Element: Collection<UInt8> & Sendable {
        self.size = max(size, Self.overhead + 1)
        self.send = send
        stream = StreamLink(
            reading: { [size = self.size] add in try await Self.order(incoming, atMost: size, add) },
            writing: send, atMost: self.size, finish: {})
    }

    /// Passes on the content of each message once, in the order of the numbers, up to the last.
    private static func order<Incoming: AsyncSequence>(
        _ incoming: Incoming, atMost size: Int, _ add: ([UInt8]) async throws -> Void
    ) async throws where Incoming.Element: Collection<UInt8> {
        var expected: UInt64 = 0
        var early: [UInt64: [UInt8]] = [:]
        for try await message in incoming {
            guard (overhead...size).contains(message.count) else {
                throw LinkError.carrierFailed("badLength(\(message.count))")
            }
            let number = message.prefix(overhead).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard number >= expected else { continue }
            // The expected message is missing, and one that is too far ahead of it has come.
            guard number - expected <= mostEarly else { throw LinkError.carrierFailed("missing(\(expected))") }
            early[number] = Array(message.dropFirst(overhead))
            while let content = early.removeValue(forKey: expected) {
                if content.isEmpty { return }
                expected += 1
                try await add(content)
            }
        }
        throw LinkError.closedByPeer
    }

    public func read(within limit: Duration) async throws -> [UInt8]? { try await stream.read(within: limit) }

    public func write(_ bytes: [UInt8], within limit: Duration) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let content = rest.prefix(size - Self.overhead)
            rest = rest.dropFirst(content.count)
            try await stream.write(number() + content, within: limit)
        }
    }

    public func finish() async throws {
        guard !isFinished.exchange(true, ordering: .relaxed) else { return }
        try await send(number())
    }

    private func number() -> [UInt8] {
        let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return (0..<Self.overhead).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
