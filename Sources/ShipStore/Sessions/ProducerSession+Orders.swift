import ShipProtocol

extension ProducerSession {
    /// A store that is to be shipped.
    struct Order: Sendable {
        /// Whether the consumer may have it, which is asked before the manifest goes, and before END.
        var check: @Sendable () throws -> Void = {}
        /// Whether this device has made another shipment since.
        var isOvertaken: @Sendable (Manifest) -> Bool = { _ in false }
        /// What the store was shipped as last, if it is known not to have changed since, nor anything else of the shipment.
        var unchanged: @Sendable () async -> Manifest? = { nil }
        /// Takes the compact copy.
        let prepare: @Sendable () async throws -> OutgoingShipment
        /// A shipment of the store that broke off, and that goes first as the new one can build on it; `nil` for none.
        ///
        /// It is asked with the content that the consumer says it waits for, and the new one.
        var unfinished: @Sendable (ManifestContent.ID.Start, OutgoingShipment) async -> OutgoingShipment? = { _, _ in
            nil
        }
        /// That one has arrived.
        var finished: @Sendable (OutgoingShipment) -> Void = { _ in }
        /// Told what it came to, as soon as that is definite.
        var ended: @Sendable (Result<Outcome, ShipmentError>) -> Void = { _ in }
    }

    /// What the orders came to.
    struct Results {
        let orders: [Order]
        private(set) var all: [Result<Outcome, ShipmentError>] = []
        private var told = 0

        init(of orders: [Order]) { self.orders = orders }

        var isLastHope: Bool { all.count + 1 == orders.count && !all.contains { (try? $0.get()) != nil } }

        mutating func append(_ result: Result<Outcome, ShipmentError>) { all.append(result) }

        /// What there is by now is definite.
        mutating func tell() {
            for (order, result) in zip(orders, all).dropFirst(told) { order.ended(result) }
            told = all.count
        }

        mutating func fail(_ failure: ShipmentError) {
            while all.count < orders.count { all.append(.failure(failure)) }
        }

        /// Nothing of what was sent arrives.
        mutating func failAll(_ failure: ShipmentError) {
            all = []
            fail(failure)
        }
    }

    /// What a shipment came to.
    struct Outcome: Sendable {
        let manifest: Manifest
        /// Since the end of the shipment before it.
        let bytesSent: Int64
        /// How the store went; `nil` if the consumer wanted none of it.
        let sentStore: SentStore?
        /// Since then.
        let duration: Duration
        /// `nil` where nobody answers.
        let receipt: Receipt?
    }
}
