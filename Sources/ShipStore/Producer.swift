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
        let start = ContinuousClock.now
        do {
            // What is wrong with the store is said before anybody is called.
            let source = try SourceStore(at: store, busyTimeout: options.copy.busyTimeout)
            try protect(source, from: endpoint)
            let name = options.name ?? StoreName(suggestedBy: store)
            return try await Connector.withLink(to: endpoint, try linkOptions(for: endpoint)) { link in
                // The listener may be trusted no more while the copy is taken, or sent.
                let standing = SessionStanding(options.trust) { [trust = options.trust] () throws(ShipmentError) in
                    try trust.check(link, as: .receiver, of: name)
                }
                try standing.check()
                let identity = try options.identity
                let signs = options.signing == .always || link.medium == .file
                let session = ProducerSession(
                    timeouts: options.timeouts, signer: signs ? identity : nil, standing: standing, report: report
                ) {
                    var copy = try await PreparedCopy(
                        of: source, named: name, options.copy, metadata: options.metadata)
                    // As late as can be: a number that is used for nothing is lost.
                    if identity != nil, let counter = try options.knownDevice?.nextCounter() { copy.count(counter) }
                    report(.copied(copy.manifest, .now - start))
                    return OutgoingShipment(copy, options.manner)
                }
                let outcome = try await standing.whileItLasts { try await session.run(link) }
                return Delivery(
                    manifest: outcome.manifest, receipt: outcome.receipt, bytesSent: outcome.bytesSent,
                    duration: .now - start)
            }
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Whatever the user allows to be replaced: never what is being sent.
    func protect(_ source: SourceStore, from endpoint: Endpoint) throws(ShipmentError) {
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

    var manner: OutgoingShipment.Manner {
        OutgoingShipment.Manner(
            effort: effort, form: form, selfCheck: selfCheck, cores: cores, codec: codec, keptFree: copy.keptFree)
    }
}
