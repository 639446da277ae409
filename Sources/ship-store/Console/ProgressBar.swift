import ShipStore
import Synchronization

/// Bytes, rate and time left, on one line, at most ten times a second.
final class ProgressBar: Sendable {
    private static let width = 24
    private static let interval = Duration.milliseconds(100)

    private struct State {
        var start: ContinuousClock.Instant?
        var drawn: ContinuousClock.Instant?
    }

    private let console: Console
    private let state = Mutex(State())

    init(on console: Console) { self.console = console }

    /// - Parameters:
    ///   - done: Bytes of the store that are through.
    ///   - wire: Bytes on the wire, if they are known.
    func show(done: Int64, total: Int64, wire: Int64? = nil) {
        guard console.isTerminal, total > 0 else { return }
        let elapsed = state.withLock { state -> Duration? in
            let now = ContinuousClock.now
            guard done == total || state.drawn.map({ now - $0 >= Self.interval }) ?? true else { return nil }
            state.drawn = now
            let start = state.start ?? now
            state.start = start
            return now - start
        }
        guard let elapsed else { return }
        let seconds = max(elapsed / .seconds(1), 0.001)
        let filled = Int(Int64(Self.width) * done / total)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        let rate = Double(wire ?? done) / seconds
        let left = Double(total - done) / max(Double(done), 1) * seconds
        console.show(
            "\(bar) \(Figures.percent(done, of: total)) of \(Figures.bytes(total))"
                + ", \(Figures.bytes(Int64(rate)))/s, \(Figures.duration(.seconds(left))) left")
    }
}
