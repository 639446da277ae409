import ArgumentParser
import ShipStore
import StoreFiles

/// How every command ends: with its exit status, its errors explained, and nothing left behind when it is told to stop.
extension Console {
    /// Runs a command's work. SIGINT, SIGTERM and SIGHUP cancel it, and it cleans up after itself before the program ends; a
    /// second signal ends the program as it stands.
    ///
    /// - Parameters:
    ///   - whenStopped: The exit status after a signal; `nil` takes what a shell expects.
    ///   - stopsWhenHungUp: Whether SIGHUP is one of these signals.
    ///   - isEndless: Whether only a signal ends the work, which then returns as if it were done. Other work that returns after a signal was
    ///     done before it heard of it.
    ///   - loss: Why a part of the work had ended for good before the signal: then that is why the program ends.
    func run(
        whenStopped: ExitStatus? = nil, stopsWhenHungUp: Bool = true, isEndless: Bool = false,
        losing loss: @autoclosure () -> ShipmentError? = nil, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        PlatformCalls.ignoreFileSizeSignal()
        switch await Self.firstEnd(of: work, stopsWhenHungUp: stopsWhenHungUp, isEndless: isEndless) {
        case .signalled(let signal):
            if let loss = loss() { try fail(loss) }
            let status = whenStopped ?? ExitStatus(signal)
            if status != .success { tellOfStop(status) }
            let lost = tellOfLostOutput()
            throw ExitCode((status == .success ? lost ?? status : status).rawValue)
        case .failed(let error as ShipmentError): try fail(error)
        case .failed(let error): throw error
        case .done:
            if let lost = tellOfLostOutput() { throw ExitCode(lost.rawValue) }
        }
    }

    private func fail(_ error: ShipmentError) throws(ExitCode) -> Never {
        let status = error.failureRule.exitStatus
        fail(error.cause, hint: error.hint, status)
        throw ExitCode(status.rawValue)
    }

    /// - Returns: The exit status for it; `nil` if nothing is lost.
    func tellOfLostOutput() -> ExitStatus? {
        guard let failure = Output.failure else { return nil }
        complain("what should go to standard output is lost: \(failure)")
        return .inputOutput
    }

    private enum End {
        case done
        case failed(any Error)
        case signalled(StopSignals.Signal)
    }

    /// Waits for the work or for a signal, whichever comes first. The other is cancelled, and has ended when this returns. Work that was
    /// done all the same counts as done.
    private static func firstEnd(
        of work: @escaping @Sendable () async throws -> Void, stopsWhenHungUp: Bool, isEndless: Bool
    ) async -> End {
        // Installed before the work begins: an earlier signal would end the program without cleaning up.
        let signals = await StopSignals(stopsWhenHungUp: stopsWhenHungUp)
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
                for await signal in signals.first {
                    ServiceManager.tell(.stopping)
                    return .signalled(signal)
                }
                return nil
            }
            group.addTask {
                await ServiceManager.tellOfLife()
                return nil
            }
            var first: End?
            for await case let end? in group {
                if !isEndless, case .signalled? = first, case .done = end { first = .done }
                first = first ?? end
                group.cancelAll()
            }
            return withExtendedLifetime(signals) { first ?? .done }
        }
    }
}

extension ExitStatus {
    fileprivate init(_ signal: StopSignals.Signal) {
        self =
            switch signal {
            case .hangUp: .hungUp
            case .interrupt: .interrupted
            case .terminate: .terminated
            }
    }
}
