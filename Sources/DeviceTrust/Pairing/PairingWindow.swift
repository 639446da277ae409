import Synchronization

/// The time in which one device that has the code may pair: two minutes, and five tries.
public final class PairingWindow: Sendable {
    public static let duration = Duration.seconds(120)
    public static let tries = 5

    public let code: PairingCode
    /// The name to give to the device that pairs; `nil` for what it calls itself.
    package let name: PeerName?
    private let deadline: ContinuousClock.Instant

    private let state = Mutex((triesLeft: PairingWindow.tries, triesUnderWay: 0, isClosed: false))

    public convenience init(calling name: PeerName? = nil) {
        self.init(PairingCode(), lasting: Self.duration, calling: name)
    }

    package init(_ code: PairingCode, lasting duration: Duration, calling name: PeerName? = nil) {
        (self.code, self.name) = (code, name)
        deadline = .now + duration
    }

    /// Whether another try may begin.
    package var isOpen: Bool { state.withLock { !$0.isClosed && $0.triesLeft > 0 } && .now < deadline }

    /// Whether a device has paired.
    package var hasPaired: Bool { state.withLock { $0.isClosed && $0.triesUnderWay == 0 } }

    /// Whether no device can pair any more: no further try may begin, and none is under way.
    private var isOver: Bool { !isOpen && state.withLock { $0.triesUnderWay == 0 } }

    /// One try to pair. It ends when its last reference is released.
    package final class Try: Sendable {
        private let window: PairingWindow

        fileprivate init(_ window: PairingWindow) { self.window = window }

        deinit { window.state.withLock { $0.triesUnderWay -= 1 } }

        package var code: PairingCode { window.code }
    }

    /// - Returns: `nil` when no further try may begin.
    package func takeTry() -> Try? {
        guard .now < deadline else { return nil }
        let isTaken = state.withLock { state in
            guard !state.isClosed, state.triesLeft > 0 else { return false }
            state.triesLeft -= 1
            state.triesUnderWay += 1
            return true
        }
        return isTaken ? Try(self) : nil
    }

    /// - Returns: Whether the window was not closed before: of two devices that have the code, only one may pair.
    package func close() -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.isClosed = true
            return true
        }
    }

    /// The device that has the code could not be trusted. The code is good for the tries that are left: that device has not guessed it.
    package func reopen() { state.withLock { $0.isClosed = false } }

    /// Returns when no device can pair any more, or the task is cancelled.
    package func waitUntilOver() async {
        while !isOver, (try? await Task.sleep(for: .milliseconds(100))) != nil {}
    }
}
