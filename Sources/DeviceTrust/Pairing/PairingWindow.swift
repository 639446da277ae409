import Synchronization

/// The time during which a code is waited for: two minutes and five tries, and one device that has it.
public final class PairingWindow: Sendable {
    public static let duration = Duration.seconds(120)
    public static let tries = 5

    public let code: PairingCode
    private let deadline: ContinuousClock.Instant
    private let triesLeft: Mutex<Int>

    public convenience init() { self.init(PairingCode(), lasting: Self.duration) }

    package init(_ code: PairingCode, lasting duration: Duration) {
        self.code = code
        deadline = .now + duration
        triesLeft = Mutex(Self.tries)
    }

    package var isOpen: Bool { triesLeft.withLock { $0 > 0 } && .now < deadline }

    /// Whoever gets the code may compare it once with what another device has.
    package func takeTry() -> PairingCode? {
        guard .now < deadline else { return nil }
        return triesLeft.withLock { left in
            guard left > 0 else { return nil }
            left -= 1
            return code
        }
    }

    /// - Returns: Whether it was still possible: of two devices that have the code, only one is let in.
    package func close() -> Bool {
        triesLeft.withLock { left in
            guard left >= 0 else { return false }
            left = -1
            return true
        }
    }

    /// Returns when nobody can pair any more, or the task is cancelled.
    package func waitUntilOver() async {
        while isOpen, (try? await Task.sleep(for: .milliseconds(100))) != nil {}
    }
}
