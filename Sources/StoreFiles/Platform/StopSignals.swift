import CPlatform
@preconcurrency import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The signals by which a process is told to stop.
///
/// The first one is told, so that what is under way can be cancelled. The next one ends the process at once, whatever hangs:
/// it is waited for on a thread of its own, which no task can keep busy.
package final class StopSignals: Sendable {
    package enum Signal: Hashable, Sendable {
        /// SIGHUP: the terminal is gone.
        case hangUp
        /// SIGINT: the user wants it to stop.
        case interrupt
        /// SIGTERM: another program does.
        case terminate

        fileprivate var number: CInt {
            switch self {
            case .hangUp: SIGHUP
            case .interrupt: SIGINT
            case .terminate: SIGTERM
            }
        }

        /// What a shell says of a process that it ended.
        fileprivate var status: CInt { 128 + number }
    }

    /// What SIGHUP is to a process.
    package enum HangUp: Hashable, Sendable {
        case stops
        /// It goes on, and has nothing to read anew.
        case isPassedOver
    }

    /// One that comes so soon after the first is the same wish: timeout(1) sends its signal to its child and then to the
    /// group of both, and a terminal that goes tells a process more than once.
    private static let repetition = Duration.milliseconds(200)

    /// The first signal, once it comes.
    package let first: AsyncStream<Signal>

    private let continuation: AsyncStream<Signal>.Continuation
    private let sources = Mutex<[any DispatchSourceSignal]>([])
    private let told = Mutex<ContinuousClock.Instant?>(nil)

    /// Returns when no signal can end the process any more before it was told.
    package init(whenHungUp hangUp: HangUp = .stops) async {
        (first, continuation) = AsyncStream.makeStream()
        let queue = DispatchQueue(label: "ship-store signals")
        // Who ignores SIGHUP has been started to go on without a terminal, by nohup(1).
        let isHangUpIgnored = ship_store_is_signal_ignored(SIGHUP) != 0
        let signals: [Signal] = isHangUpIgnored ? [.interrupt, .terminate] : [.hangUp, .interrupt, .terminate]
        for signal in signals {
            #if canImport(Darwin)
                Darwin.signal(signal.number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: signal.number, queue: queue)
            source.setEventHandler { [weak self] in
                if signal != .hangUp || hangUp == .stops { self?.take(signal) }
            }
            sources.withLock { $0.append(source) }
            await withCheckedContinuation { continuation in
                source.setRegistrationHandler { continuation.resume() }
                source.resume()
            }
        }
    }

    deinit {
        for source in sources.withLock({ $0 }) { source.cancel() }
    }

    private func take(_ signal: Signal) {
        let isFirst = told.withLock { told in
            let now = ContinuousClock.now
            guard let first = told else {
                told = now
                return true
            }
            // Nothing is flushed or cleaned up: that may be what hangs. The next run sweeps what is left.
            if now - first >= Self.repetition { _exit(signal.status) }
            return false
        }
        if isFirst { continuation.yield(signal) }
    }
}
