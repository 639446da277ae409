import ArgumentParser
import ShipStore
import StoreFiles

/// How every command ends: with its exit status, its errors explained, and nothing left behind when it is told to stop.
enum Running {
    /// Runs a command's work. SIGINT, SIGTERM and SIGHUP cancel it, and it cleans up after itself before the program ends; a
    /// second signal ends the program as it stands.
    ///
    /// - Parameters:
    ///   - whenStopped: The exit status after a signal; `nil` takes what a shell expects.
    ///   - whenHungUp: Whether SIGHUP is one of these signals.
    static func run(
        _ console: Console, whenStopped: ExitStatus? = nil, whenHungUp: StopSignals.HangUp = .stops,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        PlatformCalls.ignoreFileSizeSignal()
        switch await firstEnd(of: work, whenHungUp) {
        case .signalled(let signal):
            let status = whenStopped ?? ExitStatus(signal)
            if status != .success { console.tellOfStop(status) }
            throw ExitCode(status.rawValue)
        case .failed(let error as ShipmentError):
            let (explanation, status) = (error.explanation, ExitStatus(error))
            console.fail("\(explanation.cause)", hint: explanation.hint.map { "\($0)" }, status)
            throw ExitCode(status.rawValue)
        case .failed(let error): throw error
        case .done:
            guard let failure = Output.failure else { return }
            console.complain("what should go to standard output is lost: \(failure)")
            throw ExitCode(ExitStatus.inputOutput.rawValue)
        }
    }

    private enum End {
        case done
        case failed(any Error)
        case signalled(StopSignals.Signal)
    }

    /// What ends first: the work, or the waiting for a signal. The other is cancelled, and has ended too.
    private static func firstEnd(
        of work: @escaping @Sendable () async throws -> Void, _ hangUp: StopSignals.HangUp
    ) async -> End {
        // Before any work begins: a signal that came earlier would end the program as it stands.
        let signals = await StopSignals(whenHungUp: hangUp)
        return await withTaskGroup(of: End?.self) { group in
            group.addTask {
                do {
                    try await work()
                    return .done
                } catch {
                    return .failed(error)
                }
            }
            group.addTask {
                for await signal in signals.first { return .signalled(signal) }
                return nil
            }
            var first: End?
            for await end in group {
                first = first ?? end
                group.cancelAll()
            }
            return withExtendedLifetime(signals) { first ?? .done }
        }
    }
}
