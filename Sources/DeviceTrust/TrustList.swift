public import ShipProtocol

/// Whom this device trusts: everybody else is a stranger.
public struct TrustList: Hashable, Sendable {
    /// In the order in which they came.
    public private(set) var peers: [TrustedPeer] = []

    /// Most peers.
    package static let longest = 1024

    package init() {}

    public var isEmpty: Bool { peers.isEmpty }

    public func peer(_ id: DeviceIdentifier) -> TrustedPeer? {
        // To the end, so that the time tells nothing of where it is.
        peers.reduce(nil) { $1.id == id ? $1 : $0 }
    }

    /// What the peer may be trusted with in this role; `nil` if it is not trusted in it.
    package func stores(of id: DeviceIdentifier, as role: TrustedPeer.Role) -> TrustedPeer.Stores? {
        guard let peer = peer(id), peer.roles.contains(role) else { return nil }
        return peer.stores
    }

    /// Whether the peer may send a store although it came from another device before.
    package func takesOver(_ name: StoreName, by id: DeviceIdentifier) -> Bool {
        peer(id)?.takesOver.contains(name) == true
    }

    /// A peer has taken a store over: it does so once.
    ///
    /// - Returns: Whether it might.
    package mutating func tookOver(_ name: StoreName, by id: DeviceIdentifier) -> Bool {
        guard let index = peers.firstIndex(where: { $0.id == id }) else { return false }
        return peers[index].takesOver.remove(name) != nil
    }

    /// What is said of a peer when it is trusted. What is not said stays as it is, or as it is by default.
    public struct Terms: Hashable, Sendable {
        public var name: PeerName?
        /// Both, by default.
        public var roles: Set<TrustedPeer.Role>?
        public var stores: StoreTerms?
        public var takesOver: Set<StoreName> = []

        public init() {}
    }

    /// What is said of the stores of a peer. At first they are all, unless some are said.
    public enum StoreTerms: Hashable, Sendable {
        /// These and no others.
        case only(Set<StoreName>)
        case all
        /// Those that it has, and these, without those; of one that is new, these alone.
        case changed(adding: Set<StoreName>, removing: Set<StoreName> = [])

        /// - Parameter known: What the peer has; `nil` for one that is new.
        /// - Throws: `.removedFromAll`: all but some cannot be said.
        fileprivate func applied(
            to known: TrustedPeer.Stores?
        ) throws(TrustListError) -> TrustedPeer.Stores {
            switch (self, known) {
            case (.all, _): return .all
            case (.only(let names), _): return .only(names)
            case (.changed(let added, let removed), .only(let names)):
                return .only(names.union(added).subtracting(removed))
            case (.changed(let added, let removed), nil) where removed.isEmpty: return .only(added)
            case (.changed(_, let removed), .all) where removed.isEmpty: return .all
            case (.changed(_, let removed), _): throw .removedFromAll(removed)
            }
        }
    }

    /// Trusts a device, or changes what it is trusted with. A store that it takes over, no other device takes over any more.
    ///
    /// - Throws: `.nameIsTaken`, `.tooMany`, `.removedFromAll`.
    package mutating func trust(
        _ id: DeviceIdentifier, _ terms: Terms, at time: Timestamp
    ) throws(TrustListError) -> TrustedPeer {
        if let name = terms.name, let other = peers.first(where: { $0.name == name && $0.id != id }) {
            throw .nameIsTaken(name, by: other.id)
        }
        let known = peer(id)?.stores
        let stores = try terms.stores?.applied(to: known) ?? known ?? .all
        for index in peers.indices { peers[index].takesOver.subtract(terms.takesOver) }
        guard let index = peers.firstIndex(where: { $0.id == id }) else {
            guard peers.count < Self.longest else { throw .tooMany }
            let name = terms.name ?? PeerName(of: id).avoiding(Set(peers.map(\.name)))
            let peer = TrustedPeer(
                id: id, name: name, roles: terms.roles ?? Set(TrustedPeer.Role.allCases),
                stores: stores, takesOver: terms.takesOver, since: time)
            peers.append(peer)
            return peer
        }
        if let name = terms.name { peers[index].name = name }
        if let roles = terms.roles { peers[index].roles = roles }
        peers[index].stores = stores
        peers[index].takesOver.formUnion(terms.takesOver)
        return peers[index]
    }

    /// Adds a role to what a device may be already, under a name that nobody has.
    package mutating func trust(
        _ id: DeviceIdentifier, as role: TrustedPeer.Role, called name: PeerName?, at time: Timestamp
    ) throws(TrustListError) -> TrustedPeer {
        var terms = Terms()
        if let known = peer(id) {
            terms.roles = known.roles.union([role])
        } else {
            terms.roles = [role]
            terms.name = (name ?? PeerName(of: id)).avoiding(Set(peers.map(\.name)))
        }
        return try trust(id, terms, at: time)
    }

    /// - Returns: The peer that is trusted no more; `nil` if there is none of that id or name.
    package mutating func distrust(_ text: String) -> TrustedPeer? {
        let id = try? DeviceIdentifier(text)
        guard let index = peers.firstIndex(where: { $0.id == id || $0.name.text == text }) else { return nil }
        return peers.remove(at: index)
    }
}

/// Why a device cannot be trusted.
public enum TrustListError: Error, Hashable, Sendable {
    case nameIsTaken(PeerName, by: DeviceIdentifier)
    /// It is this device's own id.
    case isThisDevice
    /// It has every store, and so it would have all but these.
    case removedFromAll(Set<StoreName>)
    case tooMany
}

extension TrustList: Codable {
    private enum CodingKeys: String, CodingKey { case version, peers }
    private static let version = 1

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        peers = try container.decode([TrustedPeer].self, forKey: .peers)
        let isConsistent =
            try container.decode(Int.self, forKey: .version) == Self.version && peers.count <= Self.longest
            && Set(peers.map(\.id)).count == peers.count && Set(peers.map(\.name)).count == peers.count
        guard isConsistent else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a list"))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.version, forKey: .version)
        try container.encode(peers, forKey: .peers)
    }
}
