import DeviceTrust
import FoundationEssentials
public import ShipCompression
public import ShipProtocol
public import ShipTransport
import StoreFiles
import StoreSnapshot
public import SystemPackage

/// The phone's side: ships a live store.
///
///     SourceStore -> CompactCopy -> ColumnsEncoder or BlockEncoder -> FrameWriter -> link
public struct Producer: Sendable {
    public struct Options: Sendable {
        /// The name to ship under; `nil` takes what the file's name suggests.
        public var name: StoreName?
        /// The user's own pairs, which travel with the shipment.
        public var metadata: [String: String] = [:]
        /// How hard to try to make few bytes.
        public var effort = Effort.auto
        /// How the store goes, if the consumer takes it so.
        public var form = StoreForm.columns
        /// Whether what goes by its rows is decoded before it counts.
        public var selfCheck = SelfCheck.on
        /// How many blocks are deflated at the same time.
        public var cores = ProcessInfo.processInfo.activeProcessorCount
        public var copy = CopyOptions()
        public var timeouts = Timeouts()
        public var link = LinkOptions()
        /// Who may be at the other end.
        public var trust = TrustPolicy.localPrograms
        /// Whose numbers go with shipments, and who signs those in files; `nil` for the device of which `trust` speaks.
        public var device: Device?
        /// Whether shipments that nobody answers are signed.
        public var signing = Signing.filesIfKnown
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

    public let store: FilePath
    public let options: Options

    public init(_ store: FilePath, options: Options = Options()) {
        self.store = store
        self.options = options
    }

    /// Ships one compact copy of the store.
    ///
    /// - Returns: With the consumer's receipt where the link goes both ways: then the copy is installed and durable.
    public func send(
        to endpoint: Endpoint, report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> Delivery {
        do {
            let beginning = try begin(to: endpoint)
            return try await Connector.withLink(to: endpoint, try linkOptions(for: endpoint)) { link in
                // The listener may be trusted no more while the copy is taken, or sent.
                let standing = SessionStanding(options.trust) { [trust = options.trust] () throws(ShipmentError) in
                    try trust.check(link, as: .receiver, of: beginning.name)
                }
                try standing.check()
                let identity = try options.identity
                let signs = options.signing == .always || link.medium == .file
                let session = ProducerSession(
                    timeouts: options.timeouts, signer: signs ? identity : nil, standing: standing, report: report
                ) {
                    try await prepare(beginning, report) {
                        identity == nil ? nil : try options.knownDevice?.nextCounter()
                    }
                }
                let outcome = try await standing.whileItLasts { try await session.run(link) }
                return Delivery(
                    manifest: outcome.manifest, receipt: outcome.receipt, bytesSent: outcome.bytesSent,
                    duration: .now - beginning.time)
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Does all that `send` does, but for the sending: nobody is called, nothing is written but a temporary copy, and no
    /// number of a shipment is used up.
    ///
    /// - Returns: What would go, and in how many bytes at the utmost: a receiver may have some of it already.
    public func rehearse(
        to endpoint: Endpoint, report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> Delivery {
        do {
            let beginning = try begin(to: endpoint)
            try Connector.checkTarget(endpoint, options.link)
            let session = ProducerSession(timeouts: options.timeouts, standing: .ofNobody, report: report) {
                try await prepare(beginning, report)
            }
            let outcome = try await session.run(.nowhere(as: endpoint))
            return Delivery(
                manifest: outcome.manifest, receipt: nil, bytesSent: outcome.bytesSent,
                duration: .now - beginning.time)
        } catch {
            throw ShipmentError(error)
        }
    }

    /// What is to go, and since when.
    private struct Beginning: Sendable {
        let source: SourceStore
        let name: StoreName
        let time = ContinuousClock.now
    }

    /// What is wrong with the store is said before anybody is called.
    private func begin(to endpoint: Endpoint) throws -> Beginning {
        let source = try SourceStore(at: store, busyTimeout: options.copy.busyTimeout)
        try protect(source, from: endpoint)
        return Beginning(source: source, name: options.name ?? StoreName(suggestedBy: store))
    }

    /// - Parameter number: The shipment's, if it gets one. It is asked for as late as can be: one that is used for nothing is
    ///   lost.
    private func prepare(
        _ beginning: Beginning, _ report: (SendEvent) -> Void, number: () throws -> UInt64? = { nil }
    ) async throws -> OutgoingShipment {
        var copy = try await PreparedCopy(
            of: beginning.source, named: beginning.name, options.copy, metadata: options.metadata)
        if let number = try number() { copy.count(number) }
        report(.copied(copy.manifest, .now - beginning.time))
        return OutgoingShipment(copy, options.manner)
    }

    /// Whatever the user allows to be replaced: never what is being sent.
    private func protect(_ source: SourceStore, from endpoint: Endpoint) throws(ShipmentError) {
        switch endpoint {
        case .file(let path):
            if source.owns(path) { throw .source(.partOfStore(path)) }
        case .standardStreams:
            let output = try? PlatformCalls.status(of: options.link.standardOutput, "-")
            if let output, source.owns(output) { throw .source(.partOfStore(store)) }
        case .tcp, .unix, .command: break
        }
    }

    private func linkOptions(for endpoint: Endpoint) throws(ShipmentError) -> LinkOptions {
        var link = options.link
        if case .tcp = endpoint { link.security = try options.trust.security(of: .receiver) }
        return link
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
            effort: effort, form: form, selfCheck: selfCheck, cores: cores, codec: codec, keptFree: copy.keptFree)
    }
}
