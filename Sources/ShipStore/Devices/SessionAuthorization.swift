import ShipLinks
import ShipProtocol
import StoreFiles
import Synchronization

/// Whether the other side of a session may still do what it does. The session asks whenever the list of trusted devices has changed, and
/// before a step that cannot be undone.
final class SessionAuthorization: Sendable {
    /// Throws if the other side may not, by the list as it is now.
    typealias Check = @Sendable () throws(ShipmentError) -> Void

    private enum State {
        case open(Check)
        /// The other side may not go on, whatever the list says later.
        case revoked(ShipmentError)
        /// The step that cannot be undone is taken.
        case settled
    }

    private let trust: TrustPolicy
    /// Whether the other side may have the session.
    private let first: Check
    private let state: Mutex<State>

    init(_ trust: TrustPolicy, _ check: @escaping Check) {
        self.trust = trust
        first = check
        state = Mutex(.open(check))
    }

    /// The authorization of a session without another side.
    static var ofNobody: SessionAuthorization { SessionAuthorization(.localPrograms) { () throws(ShipmentError) in } }

    /// Replaces the check, once more is known of what the other side does, and runs it.
    func check(by check: @escaping Check) throws(ShipmentError) {
        state.withLock { state in
            switch state {
            case .open, .settled: state = .open(check)
            case .revoked: break
            }
        }
        try self.check()
    }

    /// - Throws: What the check throws; and from then on, again.
    func check() throws(ShipmentError) {
        switch state.withLock({ $0 }) {
        case .settled: return
        case .revoked(let error): throw error
        case .open(let check):
            do throws(ShipmentError) {
                try check()
            } catch {
                try end(as: .revoked(error))
            }
        }
    }

    /// Checks for the last time, before the step that cannot be undone.
    func settle() throws(ShipmentError) {
        try check()
        try end(as: .settled)
    }

    /// A shipment is over, and another may follow: checks again whether the other side may have the session.
    func reopen() throws(ShipmentError) { try check(by: first) }

    /// Only the first end counts.
    private func end(as end: State) throws(ShipmentError) {
        let end = state.withLock { state in
            if case .open = state { state = end }
            return state
        }
        if case .revoked(let error) = end { throw error }
    }

    /// Runs a session, or a part of it, to its end, or until the other side may not go on: then that is cancelled.
    ///
    /// - Parameters:
    ///   - check: Of the part; `nil` for the session's.
    ///   - tell: Called with the check's error at once: the session may take a while to stop, as the digest of a large store does.
    /// - Throws: What the session throws, or the check's error.
    func whileItLasts<Result: Sendable>(
        by check: (@Sendable () throws -> Void)? = nil,
        telling tell: @escaping @Sendable (ShipmentError) async -> Void = { _ in },
        _ session: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard case .trustedPeers(let device) = trust else { return try await session() }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await session() }
            group.addTask {
                do throws(ShipmentError) {
                    try await self.followChanges(of: device, check)
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
    private func followChanges(
        of device: Device, _ partCheck: (@Sendable () throws -> Void)?
    ) async throws(ShipmentError) {
        // The first check may have been before the last change.
        var known: FileStatus??
        for await _ in TrustWatch.changes(of: device.folder.trustListPath) {
            let version = try device.trustListVersion()
            guard known != .some(version) else { continue }
            known = .some(version)
            guard let partCheck else {
                try check()
                continue
            }
            do { try partCheck() } catch { throw ShipmentError(error) }
        }
    }
}
