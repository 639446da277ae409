import DeviceTrust
public import EssentialFoundation
public import ShipCompression
public import ShipProtocol
public import StoreBases
package import StoreEncoding
import StoreFiles
import StoreInbox
import StoreSnapshot
public import SystemPackage

/// The phone's side: ships live stores.
///
///     SourceStore -> CompactCopy -> PartEncoder -> FrameWriter -> link
public struct Producer: Sendable {
    public struct Options: Sendable {
        /// The name to ship under, if one store is shipped; `nil` for the name that the file's name suggests.
        public var name: StoreName?
        /// The app's name for the store, if one store is shipped: the memory knows the store by it when its path has changed. Without one,
        /// the memory knows a store by its identity, its file or its schema.
        public var storeKey: String?
        /// Whether a store is shipped although another one was shipped to the receiver under its name before.
        public var replaces = false
        /// The user's own pairs, which travel with each shipment: at most 64 with those of the store, keys of 1 to 64 letters, digits, dots,
        /// dashes or underscores, and values of up to 1,024 bytes.
        public var metadata: [String: String] = [:]
        /// The effort of compression.
        public var effort = Effort.auto
        /// The encoding of a store, if the consumer takes it.
        public var encoding = PartEncoding.columns
        /// Whether rows and deltas are decoded again before the producer relies on them. If not, only the consumer finds a fault, by the
        /// SHA-256: later, and too late where no answer comes back.
        public var selfCheck = true
        /// How many blocks or segments are encoded at the same time, 1 to 256.
        public var cores = ProcessInfo.processInfo.activeProcessorCount {
            didSet { cores = min(max(1, cores), 256) }
        }
        /// Whether each write is padded to a multiple of 4,096 bytes: an observer of the line then learns less from the sizes.
        public var padding = false
        /// How fast bytes may go over links, all of this producer together; `nil` for as fast as they take them.
        public var rateLimit: RateLimit?
        public var copy = CopyOptions()
        public var timeouts = Timeouts()
        /// Who may be at the other end.
        public var trust = TrustPolicy.localPrograms
        /// The device that numbers shipments, and signs those in files; `nil` for the device of `trust`.
        public var device: Device?
        /// Whether all one-way shipments are signed, by an identity that the device gets if it has none. Otherwise those in files are, if the
        /// device has an identity.
        public var signsAlways = false
        /// Whether shipments are signed for receivers that answer, and want to pass them on to devices that trust this one. The device gets
        /// an identity if it has none.
        public var signsForRelays = false
        /// Remembers the copies that receivers have acknowledged, so that the next shipment can build on them; `nil` for no memory. Copies
        /// are made in its folder, unless `copy` names another.
        public var memory: BaseMemory?
        /// The holdings that the receiver of a one-way shipment has named: the shipment carries what has changed since.
        public var holdings: HoldingsFile?
        /// A file with an earlier shipment that needs no base: a one-way shipment carries what has changed since.
        public var earlier: FilePath?
        /// How the stores of that file are checked.
        public var checking = CheckOptions()
        /// Encodes rows and deltas.
        package var codec: any StoreCodec = FileCodec()

        public init() {}
    }

    public let stores: [FilePath]
    /// The stores that are shipped of an inbox; `nil` for a producer of live stores.
    let held: (inbox: Inbox, names: [StoreName])?
    public let options: Options

    public init(_ store: FilePath, options: Options = Options()) {
        self.init([store], options: options)
    }

    public init(_ store: String, options: Options = Options()) { self.init(FilePath(store), options: options) }

    public init(_ store: URL, options: Options = Options()) { self.init(FilePath(store), options: options) }

    /// Ships the stores in this order, in one session.
    public init(_ stores: [FilePath], options: Options = Options()) {
        self.stores = stores
        held = nil
        self.options = options
    }

    /// Ships what an inbox holds, as the devices have signed it that made it: to receivers that trust those devices for it. They need not
    /// trust this device with anything but the delivery.
    ///
    /// Over links on which the receiver answers.
    ///
    /// - Parameters:
    ///   - inbox: A `Consumer` may be receiving into it.
    ///   - names: The stores; empty for all that there are.
    ///   - options: How. What is about copies and their names says nothing.
    public init(inbox: FilePath, names: [StoreName] = [], options: Options = Options()) {
        stores = []
        held = (Inbox(at: inbox), names)
        self.options = options
    }

    /// Whether it ships what an inbox holds.
    package var isOfInbox: Bool { held != nil }

    /// A store that exists, and the name under which it is shipped.
    struct Source {
        let store: SourceStore
        /// As the user gave it: where it leads may change.
        let path: FilePath
        let name: StoreName
        /// The knowledge of it for several shipments; `nil` for one that is shipped once.
        var watched: WatchedStore?

        /// The state in which it is; `nil` where that cannot be told.
        func state() async -> StoreState? {
            if let watched { return await watched.look().state }
            return try? await store.state()
        }
    }
}

extension Producer.Options {
    var knownDevice: Device? {
        device ?? trust.device
    }

    /// The identity of the sender; `nil` if it has none.
    var identity: DeviceIdentity? {
        get throws(ShipmentError) {
            try signsAlways || signsForRelays ? knownDevice?.identity() : knownDevice?.existingIdentity()
        }
    }
}
