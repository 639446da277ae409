import ShipStore
import Synchronization

/// Bytes, rate and time left, on one line, at most ten times a second.
final class ProgressBar: Sendable {
    private static let interval = Duration.milliseconds(100)

    private let console: Console
    private let state = Mutex((start: ContinuousClock.Instant?.none, drawn: ContinuousClock.Instant?.none))

    init(on console: Console) { self.console = console }

    /// - Parameter done: Bytes of the store that are through.
    func show(done: Int64, total: Int64) {
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
        let progress = Progress(done: done, total: total, elapsed: elapsed)
        console.show { "\(progress.line(columns: $0))" }
    }
}

/// How far something is, in words and as a bar.
struct Progress {
    let done: Int64
    let total: Int64
    let elapsed: Duration

    private static let barWidths = 8...24
    /// No estimate is made before this: the first pieces only fill buffers, or wait for the encoder.
    private static let leastElapsed = Duration.seconds(2)
    private static let leastPart = 50  // of the whole, as a divisor

    /// A line of at most `columns` columns. If space is short, the bar shrinks and goes, then the rate goes, then the total.
    func line(columns: Int) -> String {
        let percent = Figures.percent(done, of: total)
        var parts = [percent + " of " + Figures.bytes(total)]
        if let rate { parts.append(rate) }
        if let left { parts.append(left) }
        let figures = parts.joined(separator: ", ")
        let room = columns - figures.count - 1
        if room >= Self.barWidths.lowerBound { return bar(min(room, Self.barWidths.upperBound)) + " " + figures }
        let candidates = [figures, [parts[0], left].compactMap(\.self).joined(separator: ", "), parts[0], percent]
        return candidates.first { $0.count <= columns } ?? ""
    }

    private func bar(_ width: Int) -> String {
        let filled = min(width, max(0, Int(Double(width) * Double(done) / Double(total))))
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }

    private var rate: String? {
        elapsed > .zero ? Figures.bytes(Int64(Double(done) / (elapsed / .seconds(1)))) + "/s" : nil
    }

    /// `nil` before there is an estimate, and at the end.
    private var left: String? {
        guard done < total, elapsed >= Self.leastElapsed, done >= total / Int64(Self.leastPart), done > 0 else {
            return nil
        }
        let seconds = (Double(total - done) / Double(done) * (elapsed / .seconds(1))).rounded(.up)
        guard seconds < 86_400 else { return nil }
        let minutes = Int(seconds) / 60
        return switch minutes {
        case 0: "\(Int(seconds)) s left"
        case 1..<60: "\(minutes) min \(Int(seconds) % 60) s left"
        default: "\(minutes / 60) h \(minutes % 60) min left"
        }
    }
}
