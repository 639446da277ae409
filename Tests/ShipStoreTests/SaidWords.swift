import ShipProtocol
import ShipTransport
import Synchronization

/// What a stand-in for a peer has said, and nobody has heard yet. As at each link, a call that is cancelled loses nothing.
final class SaidWords: Sendable {
    private let words: Mutex<[[UInt8]]>

    /// A consumer's greeting.
    init(taking encodings: [PartEncoding] = [], holding held: [Hello.HeldStore] = []) throws {
        let hello = Hello(software: "a consumer", taking: CommonEncodings(encodings), holds: held)
        words = Mutex([Preamble(role: .consumer, mode: .twoWay).encoded, try Frame.hello(hello).serialized()])
    }

    func say(_ word: [UInt8]) { words.withLock { $0.append(word) } }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8] {
        let end = ContinuousClock.now + limit
        while true {
            guard !Task.isCancelled else { throw .cancelled }
            if let word = words.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return word }
            guard .now < end else { throw .timedOut(.reading) }
            try? await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// A stand-in for a consumer that takes each piece at once, and has said by then what it says to it.
protocol SayingConsumer: Actor, LinkReader, LinkWriter {
    nonisolated var words: SaidWords { get }

    func take(_ bytes: [UInt8]) throws
}

extension SayingConsumer {
    nonisolated func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        try await words.next(within: limit)
    }

    nonisolated func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        do {
            try await take(bytes)
        } catch {
            throw .closedByPeer
        }
    }
}
