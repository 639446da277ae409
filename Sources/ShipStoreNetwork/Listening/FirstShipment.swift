import ShipStore
import Synchronization

/// The one shipment that a listener is there for: the first that somebody begins who may.
final class FirstShipment: Sendable {
    private enum State {
        case awaited
        case underWay
        case over(Result<Void, ShipmentError>)
    }

    private let state = Mutex(State.awaited)

    /// What a session may come to have: the right to be that one.
    final class Claim: Sendable {
        private let shipment: FirstShipment
        private let made = Atomic(false)

        init(of shipment: FirstShipment) { self.shipment = shipment }

        var isMade: Bool { made.load(ordering: .relaxed) }

        /// - Throws: `.stopped` if another session was earlier: the listener takes no second shipment.
        func make() throws(ShipmentError) {
            let isFirst = shipment.state.withLock { state in
                guard case .awaited = state else { return false }
                state = .underWay
                return true
            }
            guard isFirst else { throw .stopped }
            made.store(true, ordering: .relaxed)
        }

        /// The session that has made it is over.
        func end(_ end: Result<Void, ShipmentError>) { shipment.state.withLock { $0 = .over(end) } }
    }

    /// - Throws: Why it did not arrive.
    func end() throws(ShipmentError) {
        if case .over(let end) = state.withLock({ $0 }) { try end.get() }
    }
}
