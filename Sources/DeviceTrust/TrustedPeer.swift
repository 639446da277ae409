public import ShipProtocol

/// A device that this one trusts, and what it may do.
public struct TrustedPeer: Hashable, Sendable {
    public let id: DeviceIdentifier
    /// Unique among the peers.
    public internal(set) var name: PeerName
    public internal(set) var roles: Set<Role>
    public internal(set) var stores: Stores
    /// Stores that it may send although another device sent them before.
    public internal(set) var takesOver: Set<StoreName>
    public let since: Timestamp

    /// The roles that a peer may have.
    public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
        /// It sends stores, which this device installs.
        case sender
        /// This device sends stores to it.
        case receiver
        /// It passes on what other devices have sent it, which this device trusts as senders. A sender may do so, too.
        case relay

        /// The roles that a device is trusted in unless something else is said.
        package static let usual: Set<Role> = [.sender, .receiver]

        /// The role of this device towards a peer in this role.
        package var other: Role { self == .receiver ? .sender : .receiver }
    }

    /// The stores that the peer may send or receive.
    public enum Stores: Hashable, Sendable {
        case all
        case only(Set<StoreName>)

        public func contains(_ name: StoreName) -> Bool {
            switch self {
            case .all: true
            case .only(let names): names.contains(name)
            }
        }
    }
}

extension TrustedPeer {
    /// Whether it is trusted in a role. Who may send a store may bring it from another sender, too.
    func may(be role: Role) -> Bool { roles.contains(role) || role == .relay && roles.contains(.sender) }
}

extension TrustedPeer: Codable {
    private enum CodingKeys: String, CodingKey { case id, name, roles, stores, takesOver, since }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(DeviceIdentifier.self, forKey: .id)
        name = try container.decode(PeerName.self, forKey: .name)
        roles = try container.decode(Set<Role>.self, forKey: .roles)
        stores = try container.decodeIfPresent(Set<StoreName>.self, forKey: .stores).map(Stores.only) ?? .all
        takesOver = try container.decodeIfPresent(Set<StoreName>.self, forKey: .takesOver) ?? []
        since = try container.decode(Timestamp.self, forKey: .since)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(roles.map(\.rawValue).sorted(), forKey: .roles)
        if case .only(let names) = stores { try container.encode(names.sorted(), forKey: .stores) }
        if !takesOver.isEmpty { try container.encode(takesOver.sorted(), forKey: .takesOver) }
        try container.encode(since, forKey: .since)
    }
}
