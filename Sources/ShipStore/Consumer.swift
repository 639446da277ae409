import DeviceTrust
package import ShipCompression
public import ShipLinks
public import ShipProtocol
public import StoreInbox
import StoreInstall
public import StoreServing
import Synchronization
public import SystemPackage

/// The companion's side: receives shipments into an inbox, which it owns for as long as it lives.
///
///     link -> FrameParser -> PartDecoder -> StagedGeneration -> StoreCheck -> Installer -> StoreCoordinator
///
/// To own it is to have a file of it locked, `.ship-store/.lock`, and the staging of each shipment that is coming in. An app that is
/// about to be suspended must have neither: it cancels the task that receives, waits for it to end, and lets the consumer go. What
/// has come of a shipment stays for a day, and a new consumer goes on with it when the sender sends again. A `coordinator` that is
/// still read is suspended by itself: `StoreCoordinator.suspend`.
public final class Consumer: Sendable {
    public struct Options: Sendable {
        public var timeouts = Timeouts()
        /// Who may be at the other end.
        public var trust = TrustPolicy.localPrograms
        /// What becomes of shipments that no device has signed.
        public var unsigned = UnsignedShipments.asCarried
        /// How many generations of each store stay, the current one included.
        public var kept = 3
        /// Those beyond that number stay for this long after they were installed; `nil` for not at all.
        public var keptFor: Duration?
        /// How much a shipment may bring.
        public var budget = ShipmentBudget()
        /// Bytes that an installation leaves free on the disk.
        public var keptFree: Int64 = 1_000_000
        /// Names under which one shipment each may bring another store than the one that is held.
        public var replacing: Set<StoreName> = []
        /// What becomes of a store without a row that comes in place of one with rows and without an identity.
        public var emptied = Succession.Emptied.refused
        /// What a shipment must be to be let in.
        public var requirements = StoreRequirements()
        /// How the store of a shipment is checked before it is installed.
        public var checking = CheckOptions()
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
    /// How many have begun.
    private let sessions = Atomic(0)
    package let options: Options

    /// Makes the inbox if it is not there, takes it over, and sweeps what a killed consumer left.
    ///
    /// - Throws: `ShipmentError.install(.inboxInUse)` if another consumer has it.
    public init(inbox root: FilePath, options: Options = Options()) throws(ShipmentError) {
        inbox = Inbox(at: root)
        coordinator = StoreCoordinator(inbox: root)
        self.options = options
        do throws(InboxError) {
            installer = try Installer(
                inbox: inbox, keeping: Retention(count: options.kept, duration: options.keptFor),
                leavingFree: options.keptFree, replacing: Replacements(of: options.replacing),
                emptied: options.emptied)
        } catch {
            throw .install(error)
        }
    }

    /// Receives the shipments that come over a link that an app carries, which relies on what carries it: the app vouches for who
    /// is at the other end.
    ///
    /// - Parameters:
    ///   - link: To close it is the app's business.
    ///   - name: What the other side is called, in messages.
    ///   - report: Told of what happens, as it does.
    /// - Returns: The receipts: what came is installed, durable and current.
    /// - Throws: Why the first one that failed did. The others are installed all the same; `report` has been told of each.
    public func receive(
        over link: some Link, named name: String, report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Receipt] {
        let peer = PeerLink(link, to: name, finishingWithin: options.timeouts.idle)
        let receipts = try await receive(over: peer, .atOnce, report)
        // What has come is installed, and acknowledged.
        try? await peer.writer.finish()
        return receipts
    }

    /// Receives the shipments that a file has.
    ///
    /// - Returns: The receipts: what came is installed, durable and current.
    /// - Throws: Why the first one that failed did. The others are installed all the same; `report` has been told of each.
    public func receive(
        from path: FilePath, report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Receipt] {
        do {
            return try await FileLink.withLink(from: path, within: options.timeouts.connect) { link in
                try await self.receive(over: link, .never, report)
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    package func receive(
        over link: PeerLink, _ greeting: ConsumerSession.Greeting, _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) async throws(ShipmentError) -> [Receipt] {
        let told = nextSession(link, report)
        let outcome: ConsumerSession.Outcome
        do throws(ShipmentError) {
            outcome = try await session(link, greeting, told) {}
        } catch {
            told.add(.failed(error))
            throw error
        }
        if let failure = outcome.failures.first { throw failure }
        return outcome.receipts
    }

    /// How often it is looked whether what waits may still wait.
    package static let lookingAfterWaiting = Duration.seconds(60)

    /// What waits for the rest goes after a day, and with the trust in its sender.
    package func removeUnwelcome() {
        installer.waiting.removeOver()
        // A list that cannot be read says nothing: sessions are told.
        guard let list = try? options.trust.list() else { return }
        let own = try? options.trust.ownIdentifier()
        installer.waiting.removeAll { name, record in
            guard let id = record.producer.flatMap({ DeviceIdentifier(bytes: $0.bytes) }) else { return false }
            return id != own && list.stores(of: id, as: .sender)?.contains(name) != true
        }
    }

    /// Numbers a session that begins.
    package func nextSession(
        _ link: PeerLink, _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) -> SessionReport {
        SessionReport(sessions.wrappingAdd(1, ordering: .relaxed).newValue, with: link.peer, report)
    }

    /// Receives all that comes in one session.
    package func session(
        _ link: PeerLink, _ greeting: ConsumerSession.Greeting, _ told: SessionReport,
        whenBegun: @escaping @Sendable () throws -> Void
    ) async throws(ShipmentError) -> ConsumerSession.Outcome {
        told.add(.connected("\(link.peer)"))
        removeUnwelcome()
        if link.peer == .at(.standardStreams) { told.add(.reading(link.medium == .file ? .file : .stream)) }
        let session = ConsumerSession(
            judgement: SenderJudgement(trust: options.trust, unsigned: options.unsigned), installer: installer,
            coordinator: coordinator, turns: turns, budget: options.budget, requirements: options.requirements,
            checking: options.checking, probes: ProbeRun(options.probes), codec: options.codec,
            timeouts: options.timeouts, whenBegun: whenBegun, report: told.add)
        do {
            return try await withTaskExecutorPreference(BlockingExecutor.shared) {
                try await session.run(link, greeting: greeting)
            }
        } catch {
            throw ShipmentError(error, from: link.medium)
        }
    }
}
