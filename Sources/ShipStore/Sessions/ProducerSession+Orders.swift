import ShipProtocol
import Synchronization

extension ProducerSession {
    /// A store that is to be shipped: what the session asks, and tells, whoever has ordered the shipment.
    struct Order: Sendable {
        /// Throws if the consumer may not have the store; called before the manifest goes, and before END.
        var check: @Sendable () throws -> Void = {}
        /// Whether this device has made a later shipment since.
        var isOvertaken: @Sendable (Manifest) -> Bool = { _ in false }
        /// Returns the last manifest of the store, if neither the store nor anything else of the shipment has changed since.
        var unchanged: @Sendable () async -> Manifest? = { nil }
        /// Takes the compact copy.
        var prepare: @Sendable () async throws -> OutgoingShipment
        /// Whether the copy may be taken while the one before still exists.
        var isSmall: @Sendable () -> Bool = { false }
        /// Returns what the offer of a manifest answers.
        var answer: @Sendable (Manifest) -> Newest? = { _ in nil }
        /// Called when a copy is given up before it has gone: whoever else keeps it lets go of it.
        var dropped: @Sendable () -> Void = {}
        /// Called when all of the shipment has gone, and only the consumer works; earlier if little of it is still to go.
        var nextMayBegin: @Sendable () -> Void = {}
        /// Returns a shipment of the store that broke off, if the new one can build on it. It is given the content that the consumer says
        /// it waits for, and the new shipment.
        var unfinished: @Sendable (ManifestContent.ID.Start, OutgoingShipment) async -> OutgoingShipment? = { _, _ in
            nil
        }
        /// Called when the shipment that broke off has arrived.
        var finished: @Sendable (OutgoingShipment) -> Void = { _ in }
        /// Called with the result, as soon as it is definite.
        var ended: @Sendable (Result<Delivery, ShipmentError>) -> Void = { _ in }
        /// Writes the result down, while others go on.
        var settled: @Sendable (Result<Delivery, ShipmentError>) -> Void = { _ in }
    }

    /// Takes small copies before their turn, while the last of the shipment before goes and the consumer works on it.
    ///
    /// A copy that fails is taken again in its turn: once the copy before it has gone there is more room. A store that was locked for as
    /// long as the user waits is not waited for again.
    final class EarlyWork: Sendable {
        private let orders: [Order]
        /// Each ends with the copy; with `nil` if the store has not changed.
        private let tasks = Mutex<[Int: Task<OutgoingShipment?, any Error>]>([:])

        init(on orders: [Order]) { self.orders = orders }

        /// Begins with an order, if there is one.
        func begin(_ index: Int) {
            guard orders.indices.contains(index), orders[index].isSmall() else { return }
            tasks.withLock { tasks in
                // Before a small shipment goes, and after it; and again if the consumer asks for a part again.
                guard tasks[index] == nil else { return }
                tasks[index] = Task(executorPreference: BlockingExecutor.shared) { [order = orders[index]] in
                    try order.check()
                    if await order.unchanged() != nil { return nil }
                    return try await order.prepare()
                }
            }
        }

        /// The order is over: its copy goes, if it was not used.
        func drop(_ index: Int) { tasks.withLock { $0.removeValue(forKey: index) }?.cancel() }

        func end() async {
            let left = tasks.withLock { tasks in
                defer { tasks = [:] }
                return Array(tasks.values)
            }
            for task in left { task.cancel() }
            for task in left { _ = await task.result }
        }

        /// The order, which uses its early copy, and begins with the next order once nearly all of it has gone.
        subscript(index: Int) -> Order {
            var order = orders[index]
            order.unchanged = { [self, original = orders[index]] in
                // Without a copy the store is compared again: it may have changed while the consumer was at work.
                if case .success? = await copy(index) { return nil }
                return await original.unchanged()
            }
            order.prepare = { [self, original = orders[index]] in
                defer { tasks.withLock { $0[index] = nil } }
                switch await copy(index) {
                case .success(let copy): return copy
                case .failure(let error) where ShipmentError(error).isOfLock: throw error
                case .failure, nil: return try await original.prepare()
                }
            }
            order.nextMayBegin = { [self] in begin(index + 1) }
            return order
        }

        /// - Returns: `nil` if no copy was begun, or the store had not changed.
        private func copy(_ index: Int) async -> Result<OutgoingShipment, any Error>? {
            guard let task = tasks.withLock({ $0[index] }) else { return nil }
            let result = await withTaskCancellationHandler {
                await task.result
            } onCancel: {
                task.cancel()
            }
            return switch result {
            case .success(let copy?): .success(copy)
            case .success(nil): nil
            case .failure(let error): .failure(error)
            }
        }
    }

    /// The results of the orders, which are told once they are definite.
    struct Results {
        /// Those that are known, or the last one that came later.
        private(set) var orders: [Order]
        private var all: [Result<Delivery, ShipmentError>] = []
        /// Of those that were known at the start, once another has come.
        private var first: [Result<Delivery, ShipmentError>]?
        private var told = 0
        private var settling: Task<Void, Never>?

        init(of orders: [Order]) { self.orders = orders }

        /// Whether nothing has arrived, and only one order is left.
        var isLastHope: Bool { all.count + 1 == orders.count && !all.contains { (try? $0.get()) != nil } }

        /// Of the orders that were known at the start.
        var known: [Result<Delivery, ShipmentError>] { first ?? all }

        /// Another order has come; those before it are done.
        mutating func expect(_ order: Order) {
            tell()
            first = first ?? all
            (orders, all, told) = ([order], [], 0)
        }

        mutating func append(_ result: Result<Delivery, ShipmentError>) { all.append(result) }

        /// Tells the results that there are by now.
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

        /// The remaining orders fail.
        mutating func fail(_ failure: ShipmentError) {
            while all.count < orders.count { all.append(.failure(failure)) }
        }

        /// All orders fail, also those that had gone.
        mutating func failAll(_ failure: ShipmentError) {
            all = []
            fail(failure)
        }
    }
}

extension ShipmentError {
    /// Whether another program kept the store locked for as long as the user waits.
    fileprivate var isOfLock: Bool {
        if case .source(.busy) = self { true } else { false }
    }
}
