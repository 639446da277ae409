import ShipProtocol

extension ConsumerSession {
    package struct Outcome: Sendable {
        package internal(set) var receipts: [Receipt] = []
        /// Of the shipments that were refused, or given up.
        package internal(set) var failures: [ShipmentError] = []
        /// Whether the producer waited with this side for more to ship.
        package internal(set) var hasStayed = false
    }
}
