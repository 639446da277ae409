import ShipProtocol
import Synchronization

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
        var prepare: @Sendable () async throws -> OutgoingShipment
        /// Whether that may be done before its turn: there are two copies then.
        var isSmall: @Sendable () -> Bool = { false }
        /// Told that all of it has gone: it is the consumer that works now.
        var sent: @Sendable () -> Void = {}
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
        /// Writes down what it came to, while others go on.
        var settled: @Sendable (Result<Outcome, ShipmentError>) -> Void = { _ in }
    }

    /// What can be done of orders before their turn, while the other side is waited for.
    ///
    /// What fails is tried again in its turn, and fails then if it has to: there is more room once the copy before it has gone.
    final class EarlyWork: Sendable {
        private enum Done: Sendable {
            case unchanged
            case prepared(OutgoingShipment)
            case nothing
        }

        private let orders: [Order]
        private let tasks = Mutex<[Int: Task<Done, Never>]>([:])

        init(on orders: [Order]) { self.orders = orders }

        /// Begins with an order, if there is one.
        func begin(_ index: Int) {
            guard orders.indices.contains(index), orders[index].isSmall() else { return }
            tasks.withLock { tasks in
                // What is sent may be asked for again.
                guard tasks[index] == nil else { return }
                tasks[index] = Task(executorPreference: BlockingExecutor.shared) { [order = orders[index]] in
                    do {
                        try order.check()
                        if await order.unchanged() != nil { return .unchanged }
                        return .prepared(try await order.prepare())
                    } catch {
                        return .nothing
                    }
                }
            }
        }

        /// The order is over: what was done for it goes, if it was not taken up.
        func drop(_ index: Int) { tasks.withLock { $0.removeValue(forKey: index) }?.cancel() }

        /// Ends what nobody needs any more.
        func end() async {
            let left = tasks.withLock { tasks in
                defer { tasks = [:] }
                return Array(tasks.values)
            }
            for task in left { task.cancel() }
            for task in left { _ = await task.value }
        }

        /// The order, which takes up what has been done of it, and begins with the next one.
        subscript(index: Int) -> Order {
            var order = orders[index]
            order.unchanged = { [self, original = orders[index]] in
                switch await done(index) {
                case .prepared: nil
                // Asked again: it may have changed while the consumer was at work.
                case .unchanged, .nothing: await original.unchanged()
                }
            }
            order.prepare = { [self, original = orders[index]] in
                defer { tasks.withLock { $0[index] = nil } }
                if case .prepared(let shipment) = await done(index) { return shipment }
                return try await original.prepare()
            }
            order.sent = { [self] in begin(index + 1) }
            return order
        }

        private func done(_ index: Int) async -> Done {
            guard let task = tasks.withLock({ $0[index] }) else { return .nothing }
            return await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }

    /// What the orders came to.
    struct Results {
        let orders: [Order]
        private(set) var all: [Result<Outcome, ShipmentError>] = []
        private var told = 0
        private var settling: Task<Void, Never>?

        init(of orders: [Order]) { self.orders = orders }

        var isLastHope: Bool { all.count + 1 == orders.count && !all.contains { (try? $0.get()) != nil } }

        mutating func append(_ result: Result<Outcome, ShipmentError>) { all.append(result) }

        /// What there is by now is definite.
        mutating func tell() {
            for (order, result) in zip(orders, all).dropFirst(told) {
                order.ended(result)
                settling = Task(executorPreference: BlockingExecutor.shared) { [settling] in
                    await settling?.value
                    order.settled(result)
                }
            }
            told = all.count
        }

        /// Waits until all that was told is written down.
        func settle() async { await settling?.value }

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
