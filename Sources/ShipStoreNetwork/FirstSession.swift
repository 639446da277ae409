import ShipStore
import Synchronization

/// The one session that a listener with `.once` waits for: the first one of a peer that may ship, or be shipped to.
final class FirstSession: Sendable {
    /// The session, and its result once it is over.
    private let state = Mutex<(session: (any AnyObject & Sendable)?, result: Result<Void, ShipmentError>?)>((nil, nil))

    /// - Throws: `.stopped` if another session was the first: the listener takes no second one.
    func claim(for session: any AnyObject & Sendable) throws(ShipmentError) {
        let isFirst = state.withLock { state in
            guard state.session == nil else { return false }
            state.session = session
            return true
        }
        guard isFirst else { throw .stopped }
    }

    func isClaimed(by session: any AnyObject & Sendable) -> Bool { state.withLock { $0.session === session } }

    func end(_ result: Result<Void, ShipmentError>) { state.withLock { $0.result = result } }

    /// - Throws: Why it failed; if there was none, why the listener ended.
    func checkResult(or failure: ShipmentError = .stopped) throws(ShipmentError) {
        try (state.withLock { $0.result } ?? .failure(failure)).get()
    }
}
