import DeviceTrust
import FoundationEssentials
public import ShipCompression
public import ShipProtocol
public import ShipTransport
public import StoreBases
import StoreFiles
import StoreSnapshot
public import SystemPackage

/// The phone's side: ships live stores.
///
///     SourceStore -> CompactCopy -> PartEncoder -> FrameWriter -> link
public struct Producer: Sendable {
    public struct Options: Sendable {
        /// The name to ship under, where one store is shipped; `nil` takes what the file's name suggests.
        public var name: StoreName?
        /// The user's own pairs, which travel with each shipment.
        public var metadata: [String: String] = [:]
        /// How hard to try to make few bytes.
        public var effort = Effort.auto
        /// In what a store goes, if the consumer takes it.
        public var encoding = PartEncoding.columns
        /// Whether what goes by its rows is decoded before it counts.
        public var selfCheck = SelfCheck.on
        /// How many blocks are deflated at the same time.
        public var cores = ProcessInfo.processInfo.activeProcessorCount
        /// Whether what is written is rounded up to steps of 4,096 bytes, so that who sees sizes on the line learns less from them.
        public var padding = false
        public var copy = CopyOptions()
        public var timeouts = Timeouts()
        public var link = LinkOptions()
        /// Who may be at the other end.
        public var trust = TrustPolicy.localPrograms
        /// Whose numbers go with shipments, and who signs those in files; `nil` for the device of which `trust` speaks.
        public var device: Device?
        /// Whether shipments that nobody answers are signed.
        public var signing = Signing.filesIfKnown
        /// Where the copies are remembered that receivers have acknowledged, so that the next shipment can build on them; `nil`
        /// for nowhere. Unless `copy` says where copies are made, they are made there.
        public var memory: BaseMemory?
        /// What the receiver of a shipment that nobody answers has said that it holds: the shipment says what has changed since.
        public var holdings: HoldingsFile?
        /// A whole shipment that was made before, in a file: one that nobody answers says what has changed since.
        public var earlier: FilePath?
        /// What makes rows into segments.
        package var codec: ColumnsCodec? = .standard

        public init() {}
    }

    /// Which shipments that nobody answers are signed.
    public enum Signing: Hashable, Sendable {
        /// Those in files, if the device has an identity.
        case filesIfKnown
        /// All; if need be the device gets an identity.
        case always
    }

    public let stores: [FilePath]
    public let options: Options

    public init(_ store: FilePath, options: Options = Options()) {
        self.init([store], options: options)
    }

    /// - Parameter stores: Shipped in this order, in one session.
    public init(_ stores: [FilePath], options: Options = Options()) {
        self.stores = stores
        self.options = options
    }

    /// Ships one compact copy of each store.
    ///
    /// - Returns: In the order of the stores, with the consumer's receipt where the link goes both ways: then the copy is installed
    ///   and durable.
    /// - Throws: Why the first one that failed did. The others have arrived all the same, but in a file: that is there as a whole or
    ///   not at all. `report` has been told of each.
    public func send(
        to endpoint: Endpoint, report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        let start = ContinuousClock.now
        do {
            // What is wrong with a store is said before anybody is called.
            let sources = try sources(for: endpoint)
            let filed = try await filedBases(report)
            return try await Connector.withLink(to: endpoint, try linkOptions(for: endpoint)) { link in
                // The listener may be trusted no more while a copy is taken, or sent.
                let standing = SessionStanding(options.trust) { [trust = options.trust] () throws(ShipmentError) in
                    try trust.check(link, as: .receiver, ofAny: sources.map(\.name))
                }
                try standing.check()
                let identity = try options.identity
                let signs = options.signing == .always || link.medium == .file
                let session = ProducerSession(
                    timeouts: options.timeouts, signer: signs ? identity : nil, standing: standing,
                    isPadded: options.padding, start: start, report: report)
                let orders = sources.map { source in
                    let filed =
                        link.direction == .oneWay ? shipment(of: source, filed, signer: session.signer, report) : nil
                    let remembered = RememberedShipment(bases(of: source), over: link, metadata: options.metadata)
                    return ProducerSession.Order(
                        check: { [trust = options.trust] in try trust.check(link, as: .receiver, of: source.name) },
                        isOvertaken: { [device = options.knownDevice] manifest in
                            manifest.counter.map { device?.hasCounted(beyond: $0) ?? false } ?? false
                        },
                        unchanged: { [metadata = options.metadata] in
                            await remembered?.bases.unchanged(source.store, metadata: metadata)
                        },
                        prepare: {
                            try await prepare(source, counting: identity != nil, for: remembered, filed, report)
                        },
                        unfinished: { remembered?.unfinished($0, before: $1) },
                        finished: { remembered?.finished($0) },
                        ended: { result in
                            tell(result, of: source, report)
                            remembered?.ended(result)
                            filed?.ended(result)
                        })
                }
                let results = try await standing.whileItLasts { await session.run(link, orders) }
                return try results.map { try $0.get() }.map(Delivery.init)
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Does all that `send` does, but for the sending: nobody is called, nothing is written but temporary copies, and no
    /// number of a shipment is used up.
    ///
    /// - Returns: What would go, and in how many bytes at the utmost: a receiver may have some of it already.
    public func rehearse(
        to endpoint: Endpoint, report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        let start = ContinuousClock.now
        do {
            let sources = try sources(for: endpoint)
            try Connector.checkTarget(endpoint, options.link)
            let filed = try await filedBases(report)
            let isFile = if case .file = endpoint { true } else { false }
            let device = options.signing == .always || isFile ? options.knownDevice : nil
            let signer = try device?.existingIdentity()
            let session = ProducerSession(
                timeouts: options.timeouts, standing: .ofNobody, isPadded: options.padding, start: start,
                report: report)
            let orders = sources.map { source in
                let filed = shipment(of: source, filed, signer: signer, report)
                return ProducerSession.Order(
                    prepare: { try await prepare(source, counting: false, for: nil, filed, report) },
                    ended: { tell($0, of: source, report) })
            }
            let results = await session.run(.nowhere(as: endpoint), orders)
            return try results.map { try $0.get() }.map(Delivery.init)
        } catch {
            throw ShipmentError(error)
        }
    }

    /// - Returns: `nil` where nothing is known of what a receiver holds.
    private func filedBases(_ report: @Sendable (SendEvent) -> Void) async throws(ShipmentError) -> FiledBases? {
        let filed = try await FiledBases(options)
        if let expiry = filed?.expiry { report(.mayBeGone(since: expiry)) }
        return filed
    }

    private func shipment(
        of source: Source, _ filed: FiledBases?, signer: DeviceIdentity?, _ report: (SendEvent) -> Void
    ) -> FiledShipment? {
        let shipment = filed?.shipment(of: source.name, bases(of: source), signer: signer)
        if let cause = shipment?.whole { report(.goesWhole(source.name, cause)) }
        return shipment
    }

    /// A store that is there, and the name under which it goes.
    private struct Source {
        let store: SourceStore
        let name: StoreName
    }

    private func sources(for endpoint: Endpoint) throws -> [Source] {
        var sources: [Source] = []
        for path in stores {
            let store = try SourceStore(at: path, busyTimeout: options.copy.busyTimeout)
            try protect(store, at: path, from: endpoint)
            let name = (stores.count == 1 ? options.name : nil) ?? StoreName(suggestedBy: path)
            guard !sources.contains(where: { $0.name == name }) else { throw ShipmentError.sameName(name) }
            sources.append(Source(store: store, name: name))
        }
        return sources
    }

    /// - Returns: `nil` if nothing is to be remembered.
    private func bases(of source: Source) -> RememberedBases? {
        options.memory.map { RememberedBases(in: $0, of: source.store.path, named: source.name, options.copy.profile) }
    }

    /// - Parameters:
    ///   - isCounted: Whether it gets a number.
    ///   - remembered: As what it is to be remembered.
    ///   - filed: What it is where nobody answers, and something is known of what its receiver holds.
    private func prepare(
        _ source: Source, counting isCounted: Bool, for remembered: RememberedShipment? = nil,
        _ filed: FiledShipment? = nil, _ report: @Sendable (SendEvent) -> Void
    ) async throws -> OutgoingShipment {
        let start = ContinuousClock.now
        func take(_ turn: SnapshotTurn) async throws -> PreparedCopy {
            try await takeCopy(of: source, for: remembered?.bases ?? filed?.memory, turn)
        }
        let copy =
            if isCounted, let device = options.knownDevice {
                try await ShipmentNumbering(of: source.store, by: device).number(take)
            } else {
                try await take(.free)
            }
        report(.copied(copy.manifest, .now - start))
        if let filed { return filed.shipment(of: copy, options.manner) }
        if let remembered { return remembered.shipment(of: copy, options.manner) }
        return OutgoingShipment(copy, options.manner)
    }

    /// A copy that is to be remembered is made where that will be, if there is room.
    private func takeCopy(
        of source: Source, for bases: RememberedBases?, _ turn: SnapshotTurn
    ) async throws(SnapshotError) -> PreparedCopy {
        if !options.copy.isFolderChosen, let folder = bases?.workingFolder() {
            var copy = options.copy
            copy.temporaryFolder = folder
            do throws(SnapshotError) {
                return try await PreparedCopy(
                    of: source.store, named: source.name, copy, metadata: options.metadata, turn: turn)
            } catch {
                // On the disk where copies are made otherwise there may be room.
                guard error.isOfRoom else { throw error }
            }
        }
        return try await PreparedCopy(
            of: source.store, named: source.name, options.copy, metadata: options.metadata, turn: turn)
    }

    private func tell(
        _ result: Result<ProducerSession.Outcome, ShipmentError>, of source: Source, _ report: (SendEvent) -> Void
    ) {
        switch result {
        case .success(let outcome): report(.delivered(Delivery(outcome)))
        case .failure(let failure): report(.failed(source.name, failure))
        }
    }

    /// Whatever the user allows to be replaced: never what is being sent.
    private func protect(
        _ source: SourceStore, at path: FilePath, from endpoint: Endpoint
    ) throws(ShipmentError) {
        switch endpoint {
        case .file(let file):
            if source.owns(file) { throw .source(.partOfStore(file)) }
        case .standardStreams:
            let output = try? PlatformCalls.status(of: options.link.standardOutput, "-")
            if let output, source.owns(output) { throw .source(.partOfStore(path)) }
        case .tcp, .unix, .command: break
        }
    }

    private func linkOptions(for endpoint: Endpoint) throws(ShipmentError) -> LinkOptions {
        var link = options.link
        if case .tcp = endpoint { link.security = try options.trust.security(of: .receiver) }
        return link
    }
}

extension SnapshotError {
    /// Whether another place for the copy may do.
    fileprivate var isOfRoom: Bool {
        switch self {
        case .noSpace: true
        case .file(let error): error.isOutOfSpace
        default: false
        }
    }
}

extension Delivery {
    fileprivate init(_ outcome: ProducerSession.Outcome) {
        self.init(
            manifest: outcome.manifest, receipt: outcome.receipt, bytesSent: outcome.bytesSent,
            store: outcome.sentStore.map { EncodedStore(encoding: $0.encoding, bytes: $0.bytes) },
            duration: outcome.duration)
    }
}

extension Producer.Options {
    fileprivate var knownDevice: Device? {
        if let device { return device }
        guard case .trustedPeers(let device) = trust else { return nil }
        return device
    }

    /// Who sends, if that is anybody.
    fileprivate var identity: DeviceIdentity? {
        get throws(ShipmentError) {
            switch signing {
            case .filesIfKnown: try knownDevice?.existingIdentity()
            case .always: try knownDevice?.identity()
            }
        }
    }

    fileprivate var manner: OutgoingShipment.Manner {
        OutgoingShipment.Manner(
            effort: effort, encoding: encoding, selfCheck: selfCheck, cores: cores, codec: codec,
            keptFree: copy.keptFree)
    }
}
