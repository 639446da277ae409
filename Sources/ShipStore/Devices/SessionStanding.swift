import DeviceTrust
import Synchronization

/// Whether the other side of a session may still do what it does there: asked again whenever the list of trusted devices
/// has changed, and before what is done cannot be undone.
final class SessionStanding: Sendable {
    /// Throws if it may not, as the list is at this moment.
    typealias Judgement = @Sendable () throws(ShipmentError) -> Void

    private enum State {
        case judged(by: Judgement)
        /// It may not go on, whatever the list says later.
        case lost(ShipmentError)
        /// It is done with what it may do.
        case settled
    }

    /// Between two looks at the list's file, which cost less than a watch that would have to be watched itself: the folder
    /// may not be there yet, or be replaced.
    private static let pause = Duration.milliseconds(250)

    private let trust: TrustPolicy
    private let state: Mutex<State>

    init(_ trust: TrustPolicy, _ judgement: @escaping Judgement) {
        self.trust = trust
        state = Mutex(.judged(by: judgement))
    }

    /// Of a session with nobody at the other end.
    static var ofNobody: SessionStanding { SessionStanding(.localPrograms) { () throws(ShipmentError) in } }

    /// More is known of what it does, or it does something else: from here on it is judged so.
    func judge(by judgement: @escaping Judgement) throws(ShipmentError) {
        state.withLock { state in
            switch state {
            case .judged, .settled: state = .judged(by: judgement)
            case .lost: break
            }
        }
        try check()
    }

    /// - Throws: What the judgement says.
    func check() throws(ShipmentError) {
        switch state.withLock({ $0 }) {
        case .settled: return
        case .lost(let error): throw error
        case .judged(let judgement):
            do throws(ShipmentError) {
                try judgement()
            } catch {
                try end(as: .lost(error))
            }
        }
    }

    /// Asks for the last time: what comes of the session is decided now.
    func settle() throws(ShipmentError) {
        try check()
        try end(as: .settled)
    }

    /// Only the first end counts.
    private func end(as end: State) throws(ShipmentError) {
        let end = state.withLock { state in
            if case .judged = state { state = end }
            return state
        }
        if case .lost(let error) = end { throw error }
    }

    /// Runs a session to its end, or until it may not go on: it is cancelled then, and the verdict thrown.
    ///
    /// - Parameter tell: Is told the verdict at once: what the session is at may take a while to stop, as the digest of a
    ///   large store does.
    func whileItLasts<Result: Sendable>(
        telling tell: @escaping @Sendable (ShipmentError) async -> Void = { _ in },
        _ session: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard case .trustedPeers(let device) = trust else { return try await session() }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await session() }
            group.addTask {
                do throws(ShipmentError) {
                    try await self.followChanges(of: device)
                } catch {
                    await tell(error)
                    throw error
                }
                return nil
            }
            while let end = try await group.next() {
                if let end { return end }
            }
            throw CancellationError()
        }
    }

    /// Returns when the task is cancelled.
    private func followChanges(of device: Device) async throws(ShipmentError) {
        // Nothing has been looked at yet: the first judgement may have been before the last change.
        var known: TrustListVersion??
        while true {
            let version = try device.trustListVersion()
            if known != .some(version) {
                known = .some(version)
                try check()
            }
            guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
        }
    }
}
