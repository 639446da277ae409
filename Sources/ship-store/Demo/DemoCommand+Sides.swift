import ShipStore
import ShipStoreNetwork
import Synchronization
import SystemPackage

/// The two sides of the demo.
extension DemoCommand {
    /// What the demo needs has not come to pass.
    struct Failed: Error, CustomStringConvertible {
        let what: String
        var description: String { "\(what) failed" }
    }

    private static let anyPort = Endpoint.tcp(host: "127.0.0.1", port: 0)

    /// Receives for as long as `body` runs, which is given the address of the listener.
    static func withReceiver(into inbox: FilePath, _ body: (_ address: Endpoint) async throws -> Void) async throws {
        let consumer = try Consumer(inbox: inbox)
        try await beside { tell in
            try await consumer.listen(on: anyPort) { report in
                if case .listener(.listening(let address)) = report.event { tell(address) }
            }
        } while: { addresses in
            for await address in addresses { return try await body(try Endpoint(address)) }
            throw Failed(what: "receive")
        }
    }

    /// Ships the store once.
    ///
    /// - Returns: How it went, and whether an earlier shipment that broke off was continued; `nil` if the link broke.
    static func send(
        _ store: FilePath, to address: Endpoint
    ) async throws -> (delivery: Delivery, isResumed: Bool)? {
        let isResumed = Mutex(false)
        let deliveries: [Delivery]
        do throws(ShipmentError) {
            deliveries = try await producer(of: store).send(to: address) { event in
                if case .wentOn = event { isResumed.withLock { $0 = true } }
            }
        } catch {
            // The link broke, or the other side saw it break first.
            guard error.failureRule.exitStatus == .protocolBroken else { throw error }
            return nil
        }
        guard let delivery = deliveries.first else { return nil }
        return (delivery, isResumed.withLock(\.self))
    }

    /// Follows a store for as long as `body` runs, which is given each shipment.
    static func withFollower(
        of store: FilePath, to address: Endpoint, _ body: (AsyncStream<Delivery>) async throws -> Void
    ) async throws {
        var following = Following()
        following.settling = .milliseconds(100)
        try await beside { [following] tell in
            try await producer(of: store).follow(to: address, following) { event in
                if case .delivered(let delivery) = event { tell(delivery) }
            }
        } while: { deliveries in
            try await body(deliveries)
        }
    }

    /// The folder of the demo holds what the sender remembers, and goes at the end.
    private static func producer(of store: FilePath) -> Producer {
        var options = Producer.Options()
        options.memory = BaseMemory(at: store.removingLastComponent().appending("bases"))
        return Producer(store, options: options)
    }

    /// Works for as long as `body` runs, which is given what the work tells.
    private static func beside<Told: Sendable>(
        _ work: @escaping @Sendable (_ tell: @escaping @Sendable (Told) -> Void) async throws -> Void,
        while body: (AsyncStream<Told>) async throws -> Void
    ) async throws {
        let (told, continuation) = AsyncStream<Told>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                defer { continuation.finish() }
                try await work { continuation.yield($0) }
            }
            try await body(told)
        }
    }
}

/// A link that breaks: it forwards bytes of the sender to a receiver, and closes both ends after a number of them.
extension DemoCommand {
    private static let carryTimeout = Duration.seconds(10)

    /// Listens for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - receiver: The other end of the link.
    ///   - most: Bytes of the sender that the link forwards.
    ///   - body: Is given the address of the sender's end.
    static func withBreakingLink(
        to receiver: Endpoint, after most: Int, _ body: (_ address: Endpoint) async throws -> Void
    ) async throws {
        try await beside { tell in
            try await Listener.serve(on: anyPort, onListening: tell) { near in
                try? await PeerLink.withLink(to: receiver) { try await carry(near, $0, most) }
                return false
            }
        } while: { addresses in
            for await address in addresses { return try await body(address) }
        }
    }

    private static func carry(_ near: PeerLink, _ far: PeerLink, _ most: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var left = most
                while left > 0, let bytes = try await near.reader.next(within: carryTimeout) {
                    try await far.writer.write(Array(bytes.prefix(left)), within: carryTimeout)
                    left -= bytes.count
                }
            }
            group.addTask {
                while let bytes = try await far.reader.next(within: carryTimeout) {
                    try await near.writer.write(bytes, within: carryTimeout)
                }
            }
            // When one direction ends, both ends are closed.
            try await group.next()
            group.cancelAll()
        }
    }
}
