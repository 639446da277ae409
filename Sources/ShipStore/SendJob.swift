import DeviceTrust
import EssentialFoundation
import ShipCompression
package import ShipLinks
import ShipProtocol
import StoreBases
import StoreEncoding
import StoreFiles
import StoreSnapshot
import SystemPackage

/// The work of a producer that is about to send: its stores, which exist, and the known holdings of their receiver.
package struct SendJob: Sendable {
    private let options: Producer.Options
    private let stores: [Shippable]
    /// The bases that one-way shipments may build on; `nil` for nothing.
    private let filed: FiledBases?
    private let start: ContinuousClock.Instant
    /// The name of a receiver without an id in the memory; `nil` for where it is.
    private let receiver: String?
    private let report: @Sendable (SendEvent) -> Void

    /// - Throws: What is wrong with the earlier shipment that the options name.
    init(
        _ stores: [Shippable], _ options: Producer.Options, start: ContinuousClock.Instant,
        to receiver: String? = nil, report: @escaping @Sendable (SendEvent) -> Void
    ) async throws(ShipmentError) {
        (self.stores, self.options, self.start, self.report) = (stores, options, start, report)
        self.receiver = receiver
        filed = try await FiledBases(options)
        if let expiry = filed?.expiry { report(.mayBeGone(since: expiry)) }
    }

    /// Takes a copy of each store, and ships it.
    ///
    /// - Throws: Why the first one that failed did.
    package func run(over link: PeerLink) async throws -> [Delivery] {
        if link.direction == .oneWay, stores.contains(where: { if case .held = $0 { true } else { false } }) {
            throw LinkError.oneWay
        }
        let session = try session(over: link, shipping: stores.map(\.name))
        var orders: [ProducerSession.Order] = []
        for store in stores { try await orders.append(order(of: store, over: link, signer: session.signer)) }
        let outcome = try await session.authorization.whileItLasts { [orders] in await session.run(link, orders) }
        return try outcome.results.map { try $0.get() }
    }

    /// Ships each store, and each again that `next` returns, until the receiver does not wait for more.
    ///
    /// - Parameters:
    ///   - end: Called when the shipment at hand is to end for newer ones.
    ///   - nothing: What a receiver hears that does not wait for more, if there is no store.
    ///   - asked: Told of each question; `next` answers it, or the next shipment does.
    ///   - next: Waits for a store; `nil` if none is shipped again.
    /// - Returns: Why the first of the stores that did not arrive did not.
    /// - Throws: Why the session broke off.
    func ship(
        _ stores: [FollowedStore], over link: PeerLink, makingWay end: @escaping @Sendable (StoreName) -> Void,
        orSaying nothing: ShipmentError? = nil, asked: (@Sendable (Question) -> Void)? = nil,
        following next: (@Sendable (ProducerSession.Answering) async throws -> FollowedStore)? = nil
    ) async throws -> ShipmentError? {
        var session = try session(over: link, shipping: stores.map(\.name))
        do throws(ShipmentError) {
            try session.authorization.check()
        } catch {
            try await refuse(error, over: link)
        }
        if let asked {
            session.asked = { [trust = options.trust] question in
                // Of a store that the receiver may not have, nothing is said.
                if (try? trust.check(link, as: .receiver, of: question.name)) != nil { asked(question) }
            }
        }
        var orders: [ProducerSession.Order] = []
        for store in stores { await orders.append(order(of: store, over: link, makingWay: end)) }
        if orders.isEmpty, let nothing { orders = [ProducerSession.Order(prepare: { throw nothing })] }
        let outcome = try await session.authorization.whileItLasts { [orders, session] in
            guard let next else { return await session.run(link, orders) }
            return await session.run(link, orders) { await order(of: try await next($0), over: link, makingWay: end) }
        }
        try outcome.end.get()
        try Task.checkCancellation()
        return outcome.results.lazy.compactMap(\.failure).first
    }

    /// Tells the receiver why it gets nothing.
    ///
    /// - Throws: The failure, or why it could not be told.
    func refuse(_ failure: ShipmentError, over link: PeerLink) async throws -> Never {
        let session = try session(over: link, shipping: [])
        try await session.run(link, [ProducerSession.Order(prepare: { throw failure })]).end.get()
        throw failure
    }

    private func session(over link: PeerLink, shipping names: [StoreName]) throws -> ProducerSession {
        // The receiver may lose its trust while a copy is taken, or sent.
        let authorization = SessionAuthorization(options.trust) { [trust = options.trust] () throws(ShipmentError) in
            try trust.check(link, as: .receiver, ofAny: names)
        }
        let signs =
            switch link.direction {
            case .oneWay: options.signsAlways || link.isFile
            case .twoWay: options.signsForRelays
            }
        return ProducerSession(
            timeouts: options.timeouts, signer: signs ? try options.identity : nil, authorization: authorization,
            isPadded: options.padding, rateLimit: options.rateLimit, start: start, report: report)
    }

    private func order(
        of store: FollowedStore, over link: PeerLink, makingWay end: @escaping @Sendable (StoreName) -> Void
    ) async -> ProducerSession.Order {
        let end = { @Sendable in end(store.name) }
        do {
            return store.follow(
                try await order(of: try store.watched.shippable(), over: link, signer: nil), makingWay: end)
        } catch {
            let failure = ShipmentError(error)
            return store.follow(
                ProducerSession.Order(prepare: { throw failure }, ended: { report(SendEvent($0, of: store.name)) }),
                makingWay: end)
        }
    }

    private func order(
        of store: Shippable, over link: PeerLink, signer: DeviceIdentity?
    ) async throws -> ProducerSession.Order {
        switch store {
        case .live(let source): try await order(of: source, over: link, signer: signer)
        case .held(let store, let watched):
            ProducerSession.Order(
                check: { [trust = options.trust] in try trust.check(link, as: .receiver, of: store.name) },
                prepare: { try await prepare(store, watched) }, ended: { report(SendEvent($0, of: store.name)) })
        }
    }

    /// Holds what is current in an inbox.
    private func prepare(_ store: HeldStore, _ watched: WatchedStore?) async throws -> OutgoingShipment {
        let version =
            try await watched?.version(of: store) ?? store.version(workingIn: options.copy.temporaryFolder)
        return OutgoingShipment(version, options) { store.bases }
    }

    private func order(
        of source: Producer.Source, over link: PeerLink, signer: DeviceIdentity?
    ) async throws -> ProducerSession.Order {
        let identity = try options.identity
        let receiver = receiver ?? link.nameOfReceiver
        let continuity = StoreContinuity(of: source, to: link.direction == .oneWay ? "" : receiver, options)
        // Why the store may not go under its name.
        var flaw: ShipmentError?
        do throws(ShipmentError) {
            try await continuity?.check(replacing: options.replaces)
        } catch {
            flaw = error
        }
        let filed = link.direction == .oneWay ? shipment(of: source, signer: signer) : nil
        let bases = link.direction == .twoWay ? bases(of: source) : nil
        let remembered = bases.map { RememberedShipment($0, to: receiver, metadata: options.metadata) }
        return ProducerSession.Order(
            check: { [trust = options.trust, flaw] in
                if let flaw { throw flaw }
                try trust.check(link, as: .receiver, of: source.name)
            },
            isOvertaken: { [device = options.knownDevice] manifest in
                manifest.counter.map { device?.hasCounted(beyond: $0) ?? false } ?? false
            },
            unchanged: { [metadata = options.metadata, device = options.knownDevice] in
                let manifest = await remembered?.bases.unchanged(source.state, metadata: metadata)
                // A number that this device has not drawn is of another one, which had the same memory.
                guard let counter = manifest?.counter, let device else { return manifest }
                return device.hasCounted(beyond: counter &- 1) ? manifest : nil
            },
            prepare: { try await prepare(source, counting: identity != nil, for: remembered, filed) },
            isSmall: { source.store.isSmall },
            dropped: { remembered?.drop() },
            unfinished: { remembered?.unfinished($0, before: $1) },
            finished: { remembered?.finished($0) },
            ended: { report(SendEvent($0, of: source.name)) },
            settled: { result in
                let manifest = try? result.get().manifest
                // Most often it is noted with the copy, so that the index is written once.
                remembered?.ended(result, of: manifest.flatMap { continuity?.sent($0) })
                filed?.ended(result)
                if let manifest { continuity?.note(manifest) }
            })
    }

    /// Does what `run` does without a link: only temporary copies are written, and no number of a shipment is drawn.
    ///
    /// - Returns: What would go, and in how many bytes at most: a receiver may have some of it already.
    package func rehearse(intoFile isFile: Bool, as endpoint: Endpoint) async throws -> [Delivery] {
        let device = options.signsAlways || isFile ? options.knownDevice : nil
        let signer = try device?.existingIdentity()
        let session = ProducerSession(
            timeouts: options.timeouts, authorization: .ofNobody, isPadded: options.padding, start: start,
            report: report)
        let orders = stores.map { store in
            let filed: FiledShipment? =
                if case .live(let source) = store { shipment(of: source, signer: signer) } else { nil }
            return ProducerSession.Order(
                prepare: {
                    switch store {
                    case .live(let source): try await prepare(source, counting: false, filed)
                    case .held(let store, let watched): try await prepare(store, watched)
                    }
                },
                ended: { report(SendEvent($0, of: store.name)) })
        }
        return try await session.run(.nowhere(as: endpoint), orders).results.map { try $0.get() }
    }

    private func shipment(of source: Producer.Source, signer: DeviceIdentity?) -> FiledShipment? {
        let shipment = filed?.shipment(of: source.name, bases(of: source), signer: signer)
        if let cause = shipment?.whole { report(.goesWhole(source.name, cause)) }
        return shipment
    }

    /// - Returns: `nil` if nothing is to be remembered.
    private func bases(of source: Producer.Source) -> RememberedBases? {
        options.memory.map {
            RememberedBases(
                in: $0, of: source.store.path, named: source.name, options.copy.profile, before: source.watched?.recent)
        }
    }

    private func prepare(
        _ source: Producer.Source, counting isCounted: Bool, for remembered: RememberedShipment? = nil,
        _ filed: FiledShipment?
    ) async throws -> OutgoingShipment {
        let take = { try await takeCopy(of: source, counting: isCounted, for: remembered?.bases ?? filed?.memory) }
        if let filed { return filed.shipment(of: try await take(), options) }
        let (version, duration) = try await version(of: source, taking: take)
        guard let remembered else { return OutgoingShipment(version, copiedIn: duration, options) }
        return remembered.shipment(of: version, copiedIn: duration, options)
    }

    /// Takes a numbered copy, or finds the newest one.
    ///
    /// - Returns: How long the copy took, if one was taken.
    func version(
        of source: Producer.Source, for bases: RememberedBases?
    ) async throws -> (StoreVersion, copiedIn: Duration?) {
        try await version(of: source) { try await takeCopy(of: source, counting: true, for: bases) }
    }

    private func version(
        of source: Producer.Source, taking take: () async throws -> PreparedCopy
    ) async throws -> (StoreVersion, copiedIn: Duration?) {
        if let watched = source.watched { return try await watched.version(taking: take) }
        let copy = try await take()
        let duration = copy.duration
        return (StoreVersion(copy), duration)
    }

    private func takeCopy(
        of source: Producer.Source, counting isCounted: Bool, for bases: RememberedBases?
    ) async throws -> PreparedCopy {
        guard isCounted, let device = options.knownDevice else {
            return try await takeCopy(of: source, for: bases, .free)
        }
        return try await device.number(copyOf: source.store) { try await takeCopy(of: source, for: bases, $0) }
    }

    /// Takes a copy: in RAM, or in the memory's folder if it is to be remembered, and there is room. Where there is none at all, remembered
    /// copies make way: shipping comes first.
    private func takeCopy(
        of source: Producer.Source, for bases: RememberedBases?, _ turn: SnapshotTurn
    ) async throws(SnapshotError) -> PreparedCopy {
        guard !options.copy.isFolderChosen, let bases else { return try await takeCopy(of: source, options.copy, turn) }
        if let room = bases.recent?.room(for: source.store, options.copy) {
            defer { withExtendedLifetime(room.claim) {} }
            if let copy = try await takeCopyIfItFits(of: source, room.copying, turn) { return copy }
        }
        if let folder = bases.workingFolder(),
            let copy = try await takeCopyIfItFits(of: source, options.copy(in: folder, like: bases), turn)
        {
            return copy
        }
        do throws(SnapshotError) {
            return try await takeCopy(of: source, options.copy, turn)
        } catch {
            guard error.isOfRoom, let folder = bases.workingFolder(makingRoom: true) else { throw error }
            return try await takeCopy(of: source, options.copy(in: folder, like: bases), turn)
        }
    }

    /// - Returns: `nil` if there is no room for it: another place may have it.
    private func takeCopyIfItFits(
        of source: Producer.Source, _ copying: CopyOptions, _ turn: SnapshotTurn
    ) async throws(SnapshotError) -> PreparedCopy? {
        do throws(SnapshotError) {
            return try await takeCopy(of: source, copying, turn)
        } catch {
            guard error.isOfRoom else { throw error }
            return nil
        }
    }

    private func takeCopy(
        of source: Producer.Source, _ copying: CopyOptions, _ turn: SnapshotTurn
    ) async throws(SnapshotError) -> PreparedCopy {
        try await PreparedCopy(of: source.store, named: source.name, copying, metadata: options.metadata, turn: turn)
    }
}

extension Producer.Options {
    fileprivate func copy(in folder: FilePath, like bases: RememberedBases) -> CopyOptions {
        var copy = copy
        copy.temporaryFolder = folder
        copy.earlierCopy = bases.bases.first?.record.path
        return copy
    }
}

extension SnapshotError {
    /// Whether a disk has no room for a copy: then another place may do.
    var isOfRoom: Bool {
        switch self {
        case .noSpace, .noRoom: true
        case .file(let error): error.isOutOfSpace
        default: false
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}
