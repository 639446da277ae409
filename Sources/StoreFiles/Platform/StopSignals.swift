import CLibrary
import CPlatform
@preconcurrency import Dispatch
import Synchronization

/// The signals that tell a process to stop.
///
/// It reports the first one, so that the program can cancel its work. The next one ends the process at once, whatever hangs: a thread
/// of its own waits for it, which no task can keep busy.
package final class StopSignals: Sendable {
    package enum Signal: Hashable, Sendable {
        /// SIGHUP: the terminal is gone.
        case hangUp
        /// SIGINT: the user wants it to stop.
        case interrupt
        /// SIGTERM: another program wants it to stop.
        case terminate

        fileprivate var number: CInt {
            switch self {
            case .hangUp: SIGHUP
            case .interrupt: SIGINT
            case .terminate: SIGTERM
            }
        }

        /// The exit status that a shell shows for it.
        fileprivate var status: CInt { 128 + number }
    }

    /// A signal within this time after the first is the same request: timeout(1) signals its child and then the group of both, and a
    /// closing terminal signals a process more than once.
    private static let repetition = Duration.milliseconds(200)

    /// The first signal, once it comes.
    package let first: AsyncStream<Signal>

    private let continuation: AsyncStream<Signal>.Continuation
    private let sources = Mutex<[any DispatchSourceSignal]>([])
    private let told = Mutex<ContinuousClock.Instant?>(nil)
    private static let asked = Atomic(false)

    /// Whether the process has been told to stop.
    package static var isAskedToStop: Bool { asked.load(ordering: .relaxed) }

    /// Returns once every signal is reported before it can end the process.
    ///
    /// - Parameter stopsWhenHungUp: Whether SIGHUP is one of them. Otherwise it is passed over: the process goes on, and has no settings to
    ///   read again.
    package init(stopsWhenHungUp: Bool = true) async {
        (first, continuation) = AsyncStream.makeStream()
        let queue = DispatchQueue(label: "ship-store signals")
        // A process that ignores SIGHUP was started to go on without a terminal, by nohup(1).
        let isHangUpIgnored = ship_store_is_signal_ignored(SIGHUP) != 0
        let signals: [Signal] = isHangUpIgnored ? [.interrupt, .terminate] : [.hangUp, .interrupt, .terminate]
        for signal in signals {
            #if canImport(Darwin)
                CLibrary.signal(signal.number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: signal.number, queue: queue)
            source.setEventHandler { [weak self] in
                if signal != .hangUp || stopsWhenHungUp { self?.take(signal) }
            }
            sources.withLock { $0.append(source) }
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
    }

    /// What comes now ends the process: its work is over, and only its last words may wait for somebody.
    deinit {
        for source in sources.withLock({ $0 }) {
            source.cancel()
            CLibrary.signal(CInt(source.handle), SIG_DFL)
        }
    }

    private func take(_ signal: Signal) {
        let isFirst = told.withLock { told in
            let now = ContinuousClock.now
            guard let first = told else {
                told = now
                return true
            }
            // It flushes and cleans up nothing: that may be what hangs. The next run sweeps up.
            if now - first >= Self.repetition { _exit(signal.status) }
            return false
        }
        guard isFirst else { return }
        Self.asked.store(true, ordering: .relaxed)
        continuation.yield(signal)
    }
}
