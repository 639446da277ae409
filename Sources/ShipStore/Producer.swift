import DeviceTrust
import EssentialFoundation
public import ShipCompression
public import ShipLinks
public import ShipProtocol
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

    /// - Parameters:
    ///   - stores: Shipped in this order, in one session.
    ///   - options: How.
    public init(_ stores: [FilePath], options: Options = Options()) {
        self.stores = stores
        self.options = options
    }

    /// Ships one compact copy of each store over a link that an app carries.
    ///
    /// - Parameters:
    ///   - link: Finished in the end; to close it is the app's business.
    ///   - name: What the other side is called, in messages, and by which it is remembered what it has.
    ///   - report: Told of what happens, as it does.
    /// - Returns: In the order of the stores, with the consumer's receipts: then the copies are installed and durable.
    /// - Throws: Why the first one that failed did. The others have arrived all the same. `report` has been told of each.
    public func send(
        to link: some Link, named name: String, report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        do {
            let departure = try await depart(report: report)
            let peer = PeerLink(link, to: name, finishingWithin: options.timeouts.idle)
            let deliveries = try await departure.run(over: peer)
            // They have arrived, and were acknowledged, whatever becomes of the link.
            try? await peer.writer.finish()
            return deliveries
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Ships one compact copy of each store into a file, which is there as a whole or not at all.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - overwriting: What it may take the place of; never something of a store that is sent.
    ///   - report: Told of what happens, as it does.
    /// - Returns: In the order of the stores.
    /// - Throws: Why the first one that failed did.
    public func send(
        to path: FilePath, over overwriting: Overwriting = .shipments,
        report: @escaping @Sendable (SendEvent) -> Void = { _ in }
    ) async throws(ShipmentError) -> [Delivery] {
        do {
            let departure = try await depart(avoiding: path, report: report)
            return try await FileLink.withLink(to: path, over: overwriting) { try await departure.run(over: $0) }
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Finds what is to be sent: what is wrong with a store is said before anybody is called.
    ///
    /// - Parameter path: Where the shipments go: never what is being sent, whatever the user allows to be replaced.
    package func depart(
        avoiding path: FilePath, report: @escaping @Sendable (SendEvent) -> Void
    ) async throws(ShipmentError) -> Departure {
        try await depart(report: report) { (store, _) throws(ShipmentError) in
            if store.owns(path) { throw .source(.partOfStore(path)) }
        }
    }

    /// - Parameter check: Whether the shipments may go where they are to go; it is given each store, and its path.
    package func depart(
        report: @escaping @Sendable (SendEvent) -> Void,
        checking check: (SourceStore, FilePath) throws(ShipmentError) -> Void = { (_, _) throws(ShipmentError) in }
    ) async throws(ShipmentError) -> Departure {
        let start = ContinuousClock.now
        do {
            return try await Departure(try sources(checking: check), options, start: start, report: report)
        } catch {
            throw ShipmentError(error)
        }
    }

    private func sources(
        checking check: (SourceStore, FilePath) throws(ShipmentError) -> Void
    ) throws -> [Source] {
        var sources: [Source] = []
        for path in stores {
            let store = try SourceStore(at: path, busyTimeout: options.copy.busyTimeout)
            try check(store, path)
            let name = (stores.count == 1 ? options.name : nil) ?? StoreName(suggestedBy: path)
            guard !sources.contains(where: { $0.name == name }) else { throw ShipmentError.sameName(name) }
            sources.append(Source(store: store, name: name))
        }
        return sources
    }

    /// A store that is there, and the name under which it goes.
    struct Source {
        let store: SourceStore
        let name: StoreName
    }
}

extension Producer.Options {
    var knownDevice: Device? {
        if let device { return device }
        guard case .trustedPeers(let device) = trust else { return nil }
        return device
    }

    /// Who sends, if that is anybody.
    var identity: DeviceIdentity? {
        get throws(ShipmentError) {
            switch signing {
            case .filesIfKnown: try knownDevice?.existingIdentity()
            case .always: try knownDevice?.identity()
            }
        }
    }

    var manner: OutgoingShipment.Manner {
        OutgoingShipment.Manner(
            effort: effort, encoding: encoding, selfCheck: selfCheck, cores: cores, codec: codec,
            keptFree: copy.keptFree)
    }
}
