import ShipLinks
import StoreFiles
import Synchronization

/// One direction of a link in this process: what goes in comes out in its order, each message some time later.
final class SlowPipe: LinkReader, LinkWriter, Sendable {
    private let state = Mutex(State())
    private let alarm: @Sendable () -> Duration
    /// Told of each message that goes in.
    let watcher = Mutex<(@Sendable ([UInt8]) -> Void)?>(nil)

    private struct State {
        var messages: [(bytes: [UInt8], due: ContinuousClock.Instant)] = []
        var isCut = false
        var bytesLeft = Int.max
    }

    /// - Parameters:
    ///   - bytes: After how many it is cut.
    ///   - delay: Of each message.
    init(cutAfter bytes: Int = .max, _ delay: @escaping @Sendable () -> Duration) {
        alarm = delay
        state.withLock { $0.bytesLeft = bytes }
    }

    func cut() { state.withLock { $0.isCut = true } }

    func put(_ bytes: [UInt8]) {
        let due = ContinuousClock.now + alarm()
        state.withLock { state in
            let last = state.messages.last?.due ?? due
            state.messages.append((Array(bytes.prefix(max(0, state.bytesLeft))), max(due, last)))
            state.bytesLeft -= bytes.count
            if state.bytesLeft <= 0 { state.isCut = true }
        }
    }

    func write(_ bytes: [UInt8], within limit: Duration) async throws(LinkError) {
        if state.withLock({ $0.isCut }) { throw .closedByPeer }
        put(bytes)
        watcher.withLock { $0 }?(bytes)
    }

    func finish() async throws(LinkError) { cut() }

    func next(within limit: Duration) async throws(LinkError) -> [UInt8]? {
        let end = ContinuousClock.now + limit
        while true {
            if Task.isCancelled { throw .cancelled }
            let (bytes, hasEnded) = state.withLock { state -> ([UInt8]?, Bool) in
                if let first = state.messages.first, first.due <= .now {
                    return (state.messages.removeFirst().bytes, false)
                }
                return (nil, state.isCut && state.messages.isEmpty)
            }
            if let bytes, !bytes.isEmpty { return bytes }
            if hasEnded { return nil }
            if end <= .now { throw .timedOut(.reading) }
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
}
