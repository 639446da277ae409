import Synchronization

/// A link over messages that may come late, twice, or before others that were sent earlier, but not get lost: as
/// WatchConnectivity's and MultipeerConnectivity's do.
///
/// Each message is numbered, in its first 8 bytes (big-endian), from 0 on; the rest is content. A message without content is the
/// sender's last. Neither is part of ship-store's protocol: both ends of the link are of this type.
public final class MessageLink: Link {
    /// Bytes of a message that are not content.
    public static let overhead = 8
    /// Messages that may be here before one that was sent earlier.
    static let mostEarly = 64

    private let stream: StreamLink
    private let size: Int
    private let next = Atomic<UInt64>(0)
    private let isFinished = Atomic(false)
    private let send: @Sendable ([UInt8]) async throws -> Void

    /// - Parameters:
    ///   - incoming: The messages of the other side, each whole.
    ///   - size: The longest message that may be sent, in bytes; more than `overhead`. Longer ones are not taken either.
    ///   - send: Sends a message, and returns when there is room for the next.
    public init<Incoming: AsyncSequence & Sendable>(
        receiving incoming: Incoming, atMost size: Int = 64 * 1024,
        sending send: @escaping @Sendable ([UInt8]) async throws -> Void
    ) where Incoming.Element: Collection<UInt8> & Sendable {
        self.size = max(size, Self.overhead + 1)
        self.send = send
        stream = StreamLink(
            reading: OrderedMessages(base: incoming, size: self.size), writing: send, atMost: self.size, finish: {})
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

/// Why messages make no stream.
enum MessageError: Error {
    /// Shorter than its number, or longer than agreed.
    case badLength(Int)
    /// One message is missing, and too many that were sent after it are here.
    case missing(UInt64)
}

/// The content of messages once each, in the order of their numbers, up to the last.
private struct OrderedMessages<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Base.Element: Collection<UInt8> & Sendable {
    let base: Base
    let size: Int

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), size: size) }

    struct Iterator: AsyncIteratorProtocol {
        var base: Base.AsyncIterator
        let size: Int
        private var expected: UInt64 = 0
        private var early: [UInt64: [UInt8]] = [:]

        init(base: Base.AsyncIterator, size: Int) { (self.base, self.size) = (base, size) }

        mutating func next() async throws -> [UInt8]? {
            while true {
                if let content = early.removeValue(forKey: expected) {
                    expected += 1
                    return content.isEmpty ? nil : content
                }
                guard let message = try await base.next() else { throw LinkError.closedByPeer }
                guard (MessageLink.overhead...size).contains(message.count) else {
                    throw MessageError.badLength(message.count)
                }
                let number = message.prefix(MessageLink.overhead).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                guard number >= expected else { continue }
                guard number - expected <= MessageLink.mostEarly else { throw MessageError.missing(expected) }
                early[number] = Array(message.dropFirst(MessageLink.overhead))
            }
        }
    }
}
