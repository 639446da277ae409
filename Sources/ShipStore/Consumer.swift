package import ShipCompression
public import ShipProtocol
public import ShipTransport
public import StoreInbox
import StoreInstall
public import StoreServing
import Synchronization
public import SystemPackage

/// The companion's side: receives shipments into an inbox, which it owns for as long as it lives.
///
///     link -> FrameParser -> ColumnsDecoder or BlockDecoder -> StagedGeneration -> StoreCheck -> Installer -> StoreCoordinator
public final class Consumer: Sendable {
    public struct Options: Sendable {
        public var timeouts = Timeouts()
        public var link = LinkOptions()
        /// How many generations of each store stay, the current one included.
        public var kept = 3
        /// Those beyond that number stay for this long after they were installed; `nil` for not at all.
        public var keptFor: Duration?
        /// What a shipment must be to be let in.
        public var requirements = StoreRequirements()
        /// Questions that the store of a shipment must answer with yes before it becomes current.
        public var probes: [StoreProbe] = []
        /// What makes stores from their rows.
        package var codec: ColumnsCodec? = .standard

        public init() {}
    }

    public let inbox: Inbox
    /// Serves what is installed, from the moment at which it is.
    public let coordinator: StoreCoordinator

    private let installer: Installer
    private let turns = StoreTurns()
    private let options: Options

    /// Makes the inbox if it is not there, takes it over, and sweeps what a killed consumer left.
    ///
    /// - Throws: `ShipmentError.install(.inboxInUse)` if another consumer has it.
    public init(inbox root: FilePath, options: Options = Options()) throws(ShipmentError) {
        inbox = Inbox(at: root)
        coordinator = StoreCoordinator(inbox: root)
        self.options = options
        do throws(InboxError) {
            installer = try Installer(
                inbox: inbox, keeping: Retention(count: options.kept, duration: options.keptFor))
        } catch {
            throw .install(error)
        }
    }

    /// Receives one shipment from an endpoint.
    ///
    /// - Returns: The receipt: what came is installed, durable and current.
    public func receive(
        from endpoint: Endpoint, report: @escaping @Sendable (ReceiveEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> Receipt {
        do {
            return try await Connector.withLink(from: endpoint, options.link) { link in
                let greeting: ConsumerSession.Greeting =
                    switch (link.direction, endpoint) {
                    case (.oneWay, _): .never
                    case (.twoWay, .standardStreams): .ifAsked
                    case (.twoWay, _): .atOnce
                    }
                return try await self.session(link, greeting, report)
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    /// How long `listen` goes on.
    public enum Persistence: Hashable, Sendable {
        case untilCancelled
        /// Until one session is over, well or not.
        case once
    }

    /// Accepts connections, and receives a shipment over each; those of different stores side by side.
    ///
    /// - Throws: If it cannot listen; with `.once`, also what the session threw.
    public func listen(
        on address: Endpoint, _ persistence: Persistence = .untilCancelled,
        report: @escaping @Sendable (ReceiveEvent) -> Void = { _ in }
    ) async throws(ShipmentError) {
        let failure = Mutex<ShipmentError?>(nil)
        do {
            try await Listener.serve(
                on: address, options.link, persistence == .once ? .oneConnection : .untilCancelled,
                onListening: { report(.listening("\($0)")) }
            ) { link in
                do throws(ShipmentError) {
                    _ = try await self.session(link, .atOnce, report)
                } catch {
                    failure.withLock { $0 = error }
                }
            }
        } catch {
            throw ShipmentError(error)
        }
        if persistence == .once, let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func session(
        _ link: Link, _ greeting: ConsumerSession.Greeting, _ report: @escaping @Sendable (ReceiveEvent) -> Void
    ) async throws(ShipmentError) -> Receipt {
        report(.connected("\(link.peer)"))
        let start = ContinuousClock.now
        let session = ConsumerSession(
            installer: installer, coordinator: coordinator, turns: turns, requirements: options.requirements,
            probes: ProbeRun(options.probes), codec: options.codec, timeouts: options.timeouts, report: report)
        do {
            let receipt = try await withTaskExecutorPreference(BlockingExecutor.shared) {
                try await session.run(link, greeting: greeting)
            }
            report(.finished(receipt, .now - start))
            return receipt
        } catch {
            let failure = ShipmentError(error)
            report(.failed(failure))
            throw failure
        }
    }
}
