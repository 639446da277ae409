import DeviceTrust
public import EssentialFoundation
public import ShipCompression
public import ShipLinks
public import ShipProtocol
public import StoreBases
package import StoreEncoding
import StoreFiles
import StoreSnapshot
public import SystemPackage

/// The phone's side: ships live stores.
///
///     SourceStore -> CompactCopy -> PartEncoder -> FrameWriter -> link
public struct Producer: Sendable {
    public struct Options: Sendable {
        /// The name to ship under, if one store is shipped; `nil` for the name that the file's name suggests.
        public var name: StoreName?
        /// What the app calls the store, if one store is shipped: the memory knows the store by it when its path has changed. Without one,
        /// the memory knows a store by its identity, its file or its schema.
        public var storeKey: String?
        /// Whether a store is shipped although another one was shipped to the receiver under its name before.
        public var replaces = false
        /// The user's own pairs, which travel with each shipment.
        public var metadata: [String: String] = [:]
        /// The effort of compression.
        public var effort = Effort.auto
        /// The encoding of a store, if the consumer takes it.
        public var encoding = PartEncoding.columns
        /// Whether rows and deltas are decoded again before the producer relies on them. If not, only the consumer finds a fault, by the
        /// SHA-256: later, and too late where no answer comes back.
        public var selfCheck = true
        /// How many blocks or segments are encoded at the same time.
        public var cores = ProcessInfo.processInfo.activeProcessorCount
        /// Whether each write is padded to a multiple of 4,096 bytes: an observer of the line then learns less from the sizes.
        public var padding = false
        public var copy = CopyOptions()
        public var timeouts = Timeouts()
        /// Who may be at the other end.
        public var trust = TrustPolicy.localPrograms
        /// The device that numbers shipments, and signs those in files; `nil` for the device of `trust`.
        public var device: Device?
        /// Whether all one-way shipments are signed, by an identity that the device gets if it has none. Otherwise those in files are, if the
        /// device has an identity.
        public var signsAlways = false
        /// Remembers the copies that receivers have acknowledged, so that the next shipment can build on them; `nil` for no memory. Copies
        /// are made in its folder, unless `copy` names another.
        public var memory: BaseMemory?
        /// What the receiver of a one-way shipment has said that it holds: the shipment carries what has changed since.
        public var holdings: HoldingsFile?
        /// A file with an earlier shipment that needs no base: a one-way shipment carries what has changed since.
        public var earlier: FilePath?
        /// Encodes rows and deltas; without one, stores go in blocks.
        package var codec: ColumnsCodec? = .standard

        public init() {}
    }

    public let stores: [FilePath]
    public let options: Options

    public init(_ store: FilePath, options: Options = Options()) {
        self.init([store], options: options)
    }

    public init(_ store: String, options: Options = Options()) { self.init(FilePath(store), options: options) }

    public init(_ store: URL, options: Options = Options()) { self.init(FilePath(store), options: options) }

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
    ///   - name: The name of the other side, in messages, and in the memory.
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
            // The shipments are acknowledged: an error of the link no longer matters.
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
            return try await PeerLink.withLink(toFile: path, over: overwriting) { try await departure.run(over: $0) }
        } catch {
            throw ShipmentError(error)
        }
    }

    /// Finds the stores before a link is opened.
    ///
    /// - Parameter path: Where the shipments go: never a file of a store that is sent, whatever the user allows to be replaced.
    /// - Throws: What is wrong with a store.
    package func depart(
        avoiding path: FilePath, report: @escaping @Sendable (SendEvent) -> Void
    ) async throws(ShipmentError) -> Departure {
        try await depart(report: report) { (store, _) throws(ShipmentError) in
            if store.owns(path) { throw .source(.partOfStore(path)) }
        }
    }

    /// - Parameter check: Called with each store and its path; throws if the shipments may not go where they are to go.
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

    func sources(
        checking check: (SourceStore, FilePath) throws(ShipmentError) -> Void
    ) throws -> [Source] {
        var sources: [Source] = []
        for path in stores {
            let store = try SourceStore(at: path, options.copy)
            try check(store, path)
            let name = (stores.count == 1 ? options.name : nil) ?? StoreName(suggestedBy: path)
            guard !sources.contains(where: { $0.name == name }) else { throw ShipmentError.sameName(name) }
            sources.append(Source(store: store, path: path, name: name))
        }
        return sources
    }

    /// A store that exists, and the name under which it is shipped.
    struct Source {
        let store: SourceStore
        /// As the user gave it: where it leads may change.
        let path: FilePath
        let name: StoreName
    }
}

extension Producer.Options {
    var knownDevice: Device? {
        if let device { return device }
        guard case .trustedPeers(let device) = trust else { return nil }
        return device
    }

    /// The identity of the sender; `nil` if it has none.
    var identity: DeviceIdentity? {
        get throws(ShipmentError) {
            try signsAlways ? knownDevice?.identity() : knownDevice?.existingIdentity()
        }
    }
}
