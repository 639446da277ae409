import DeviceTrust
public import ShipLinks
public import ShipProtocol
package import StoreEncoding
public import StoreInbox
import StoreInstall
public import StoreServing
import Synchronization
public import SystemPackage

/// The companion's side: receives shipments into an inbox, which it owns as long as it lives.
///
///     link -> FrameParser -> PartDecoder -> StagedGeneration -> StoreCheck -> Installer -> StoreCoordinator
///
/// The owner holds locks on a file of the inbox, `.ship-store/.lock`, and on the staging of each shipment that is coming in. An app that
/// is about to be suspended must hold neither: it cancels the task that receives, waits for its end, and drops the consumer. What has come
/// of a shipment stays for a day, and a new consumer goes on with it when the sender sends again. A `coordinator` that is still read is
/// suspended with `StoreCoordinator.suspend`.
public final class Consumer: Sendable {
    public struct Options: Sendable {
        public var timeouts = Timeouts()
        /// Who may be at the other end.
        public var trust = TrustPolicy.localPrograms
        /// Whether shipments are accepted that do not prove which trusted device made them: the operator vouches for where they are from,
        /// and that they are not old.
        ///
        /// Otherwise those over pipes and sockets of this machine are accepted. Those in files are refused as soon as this device trusts
        /// another, and so are those without a number, of a store whose shipments have one.
        public var takesUnsigned = false
        /// Whether senders are asked to sign what they ship, so that this device can pass it on: see `Producer.init(inbox:names:options:)`.
        public var wantsSignatures = false
        /// How many generations of each store stay, the current one included.
        public var kept = 3
        /// How long generations beyond that number stay after they were installed; `nil` for not at all.
        public var keptFor: Duration?
        /// The limits on the size of a shipment.
        public var budget = ShipmentBudget()
        /// Bytes that an installation leaves free on the disk.
        public var keptFree: Int64 = 1_000_000
        /// The names under which one shipment may replace the store that is held by another store.
        public var replacing: Set<StoreName> = []
        /// Whether a store without rows may replace one with rows, and without an identity.
        public var allowsEmpty = false
        /// Whether the permission of a device to take a store over is left for later.
        package var keepsPermissions = false
        /// The requirements on the stores of shipments.
        public var requirements = StoreRequirements()
        /// How the store of a shipment is checked before it is installed.
        public var checking = CheckOptions()
        /// Questions that the store of a shipment must answer with yes before it becomes current.
        public var probes: [StoreProbe] = []
        /// Decodes rows and deltas; without one, stores come in blocks.
        package var codec: (any StoreCodec)? = FileCodec()
        /// The remedy for a failure, which the inbox notes for `status`.
        package var hint: @Sendable (ShipmentError) -> PrintableText? = { _ in nil }

        public init() {}
    }

    public let inbox: Inbox
    /// Serves what is installed.
    public let coordinator: StoreCoordinator

    let installer: Installer
    let queues = StoreQueues()
    private let bells: Bells
    /// Rung when there is something to find before it is time to look.
    private let look = Alarm()
    /// How many sessions have begun.
    private let sessions = Atomic(0)
    package let options: Options

    /// Makes the inbox if there is none, locks it, and removes what a killed consumer left.
    ///
    /// - Throws: `ShipmentError.install(.inboxInUse)` if another consumer has it.
    public init(inbox root: FilePath, options: Options = Options()) throws(ShipmentError) {
        if PublicationFolder.isThere(around: root) { throw .publication(.notAnInbox(.folder(root))) }
        let inbox = Inbox(at: root)
        (self.inbox, self.options) = (inbox, options)
        coordinator = StoreCoordinator(inbox: root)
        installer = try ShipmentError.wrapping {
            try Installer(
                inbox: inbox, keeping: Retention(count: options.kept, duration: options.keptFor),
                leavingFree: options.keptFree, replacing: options.replacing,
                allowingEmpty: options.allowsEmpty)
        }
        bells = Bells(installer.folder)
    }

    /// Takes away the inbox if this consumer has made it and nothing has come into it: the last call.
    package func removeInboxIfUnused() { installer.removeIfUnused() }

    /// Receives the shipments that come over a link that an app carries: the app vouches for who is at the other end, and closes it.
    ///
    /// - Returns: The receipts: what came is installed, durable and current.
    /// - Throws: Why the first one that failed did. The others are installed all the same; `report` has been told of each.
    public func receive(
        over link: some Link, named name: String, report: @escaping @Sendable (ReceiveReport) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Receipt] {
        let peer = PeerLink(link, to: name, finishingWithin: options.timeouts.idle)
        let receipts = try await receive(over: peer, .atOnce, report)
        // The shipments are installed and acknowledged: an error of the link no longer matters.
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
        return try await ShipmentError.awaiting {
            return try await PeerLink.withLink(fromFile: path, within: options.timeouts.connect) { link in
                try await self.receive(over: link, .never, report)
            }
        }
    }

    /// - Parameter bases: Where the bases of one-way shipments are; `nil` for this inbox.
    package func receive(
        over link: PeerLink, _ greeting: ConsumerSession.Greeting, staying stays: Bool = true,
        basesIn bases: InboxFolder? = nil,
        _ report: @escaping @Sendable (ReceiveReport) -> Void
    ) async throws(ShipmentError) -> [Receipt] {
        let told = nextSession(link, report)
        var receipts: [Receipt] = []
        do throws(ShipmentError) {
            receipts = try await session(link, greeting, staying: stays, basesIn: bases, told) {}.receipts
        } catch {
            told.add(.failed(error))
        }
        if let failure = told.failure { throw failure }
        return receipts
    }

    private static let lookingAfterWaiting = Duration.seconds(60)

    /// Removes what broke off and nobody waits for any more, again and again, until the task is cancelled: a consumer that listens or
    /// follows may be without a new session for days.
    ///
    /// - Throws: `ShipmentError.install(.inboxRemoved)`, which ends either: no other shipment could be installed.
    package func keepRemovingUnwelcome() async throws {
        while true {
            if installer.isRemoved { throw ShipmentError.install(.inboxRemoved(inbox.root)) }
            removeUnwelcome()
            try await look.wait(for: Self.lookingAfterWaiting)
        }
    }

    /// Removes shipments that broke off a day ago, or whose sender may no longer send.
    private func removeUnwelcome() {
        installer.folder.removeExpiredShipments()
        installer.removeExpiredObjects()
        // If the list cannot be read, sessions fail for it.
        guard let list = try? options.trust.list() else { return }
        let own = try? options.trust.ownIdentifier()
        installer.folder.removeAllWaitingShipments { name, record in
            guard let id = record.producer.flatMap({ DeviceIdentifier(bytes: $0.bytes) }) else { return false }
            return id != own && list.stores(of: id, as: .relay)?.contains(name) != true
        }
    }

    /// Notes why a store does not arrive, for `status`.
    func note(_ error: ShipmentError, of name: StoreName) {
        switch error {
        // What is here is newer; and who may not send a store says nothing of it.
        case .install(.outOfSequence(_, .overtaken)), .notAllowed: return
        default: break
        }
        installer.noteFailure(of: name, error.code, error.cause, hint: options.hint(error))
    }

    /// The report of a session that begins, with its number.
    package func nextSession(_ link: PeerLink, _ report: @escaping @Sendable (ReceiveReport) -> Void) -> SessionReport {
        SessionReport(sessions.wrappingAdd(1, ordering: .relaxed).newValue, with: link.peer) {
            [self] told in
            switch (told.event, told.session?.name) {
            case (.finished(let receipt, _), _): installer.noteSuccess(of: receipt.name)
            case (.failed(.stopped), _): break
            case (.failed(let error), let name?): note(error, of: name)
            default: break
            }
            report(told)
        }
    }

    /// Receives all shipments of one session.
    package func session(
        _ link: PeerLink, _ greeting: ConsumerSession.Greeting, staying stays: Bool = true,
        basesIn bases: InboxFolder? = nil, _ told: SessionReport,
        whenBegun: @escaping @Sendable () throws -> Void
    ) async throws(ShipmentError) -> ConsumerSession.Outcome {
        defer { if installer.isRemoved { look.ring() } }
        told.add(.connected("\(link.peer)"))
        removeUnwelcome()
        if link.peer == .at(.standardStreams) { told.add(.reading(link.isFile ? .file : .stream)) }
        let session = ConsumerSession(
            options: options, installer: installer, bases: bases ?? installer.folder, coordinator: coordinator,
            queues: queues, bells: bells, stays: stays, whenBegun: whenBegun, received: told.count, report: told.add)
        do {
            return try await withTaskExecutorPreference(BlockingExecutor.shared) {
                try await session.run(link, greeting: greeting)
            }
        } catch {
            throw ShipmentError(error, fromFile: link.isFile)
        }
    }
}
