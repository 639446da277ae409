import ShipTransport
import Synchronization

/// What a stand-in for a peer has said, and nobody has heard yet. As at each link, a call that is cancelled loses nothing.
final class SaidWords: Sendable {
    private let words: Mutex<[[UInt8]]>

    init(_ words: [[UInt8]] = []) { self.words = Mutex(words) }

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
