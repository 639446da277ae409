import EssentialFoundation
public import ShipProtocol
package import StoreFiles
package import SystemPackage

/// The devices that this device trusts.
public struct TrustList: Hashable, Sendable {
    /// In the order in which they were added.
    public private(set) var peers: [TrustedPeer]
    /// Of its form in the file.
    private let version: Int

    /// Most peers in a list.
    package static let longest = 1024

    fileprivate static let currentVersion = 1

    package init() { (peers, version) = ([], Self.currentVersion) }

    public var isEmpty: Bool { peers.isEmpty }

    public func peer(_ id: DeviceIdentifier) -> TrustedPeer? {
        // It always reads the complete list, so that its time does not reveal the position.
        peers.reduce(nil) { $1.id == id ? $1 : $0 }
    }

    /// The stores of the peer in this role; `nil` if it is not trusted in it.
    package func stores(of id: DeviceIdentifier, as role: TrustedPeer.Role) -> TrustedPeer.Stores? {
        guard let peer = peer(id), peer.may(be: role) else { return nil }
        return peer.stores
    }

    package func hasAny(as role: TrustedPeer.Role) -> Bool { peers.contains { $0.may(be: role) } }

    /// Whether the peer may send a store that another device sent before.
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

    /// The peer has not taken it over: it may do so yet, if it is still trusted.
    package mutating func didNotTakeOver(_ name: StoreName, by id: DeviceIdentifier) {
        if let index = peers.firstIndex(where: { $0.id == id }) { peers[index].takesOver.insert(name) }
    }

    /// Changes of a peer. A property without a value stays as it is; a new peer gets the default.
    public struct PeerChanges: Hashable, Sendable {
        public var name: PeerName?
        /// Sender and receiver, by default; a new peer with `addedRoles` gets these alone.
        public var roles: Set<TrustedPeer.Role>?
        /// In addition to `roles`, or to those that it has.
        public var addedRoles: Set<TrustedPeer.Role> = []
        /// Of those.
        public var removedRoles: Set<TrustedPeer.Role> = []
        /// All, by default; a new peer with `addedStores` gets these alone.
        public var stores: TrustedPeer.Stores?
        /// In addition to `stores`, or to those that it has. An empty set is one: a new peer then gets no store.
        public var addedStores: Set<StoreName>?
        /// Of those.
        public var removedStores: Set<StoreName> = []
        public var takesOver: Set<StoreName> = []

        public init() {}

        /// - Parameter known: The roles of the peer; `nil` for a new one.
        fileprivate func roles(over known: Set<TrustedPeer.Role>?) -> Set<TrustedPeer.Role> {
            (roles ?? known ?? (addedRoles.isEmpty ? TrustedPeer.Role.usual : []))
                .union(addedRoles).subtracting(removedRoles)
        }

        /// - Parameter known: The stores of the peer; `nil` for a new one.
        /// - Throws: `.removedFromAll`: a list cannot say "all except these".
        fileprivate func stores(over known: TrustedPeer.Stores?) throws(TrustListError) -> TrustedPeer.Stores {
            guard addedStores != nil || !removedStores.isEmpty else { return stores ?? known ?? .all }
            let added = addedStores ?? []
            switch stores ?? known {
            case .only(let names): return .only(names.union(added).subtracting(removedStores))
            case nil where removedStores.isEmpty: return .only(added)
            case .all where removedStores.isEmpty: return .all
            case nil, .all: throw .removedFromAll(removedStores)
            }
        }
    }

    /// Trusts a device, or changes a peer. If it takes a store over, every other peer loses the right to take over that store.
    ///
    /// - Throws: `.nameIsTaken`, `.tooMany`, `.removedFromAll`.
    package mutating func trust(
        _ id: DeviceIdentifier, _ changes: PeerChanges, at time: Timestamp
    ) throws(TrustListError) -> TrustedPeer {
        if let name = changes.name, let other = peers.first(where: { $0.name == name && $0.id != id }) {
            throw .nameIsTaken(name, by: other.id)
        }
        let stores = try changes.stores(over: peer(id)?.stores)
        for index in peers.indices { peers[index].takesOver.subtract(changes.takesOver) }
        guard let index = peers.firstIndex(where: { $0.id == id }) else {
            guard peers.count < Self.longest else { throw .tooMany }
            let name = changes.name ?? PeerName(of: id).avoiding(Set(peers.map(\.name)))
            let peer = TrustedPeer(
                id: id, name: name, roles: changes.roles(over: nil), stores: stores, takesOver: changes.takesOver,
                since: time)
            peers.append(peer)
            return peer
        }
        if let name = changes.name { peers[index].name = name }
        peers[index].roles = changes.roles(over: peers[index].roles)
        peers[index].stores = stores
        peers[index].takesOver.formUnion(changes.takesOver)
        return peers[index]
    }

    /// Trusts a device in one more role; a new peer gets a unique name.
    package mutating func trust(
        _ id: DeviceIdentifier, as role: TrustedPeer.Role, called name: PeerName?, at time: Timestamp
    ) throws(TrustListError) -> TrustedPeer {
        var changes = PeerChanges()
        changes.addedRoles = [role]
        if peer(id) == nil { changes.name = (name ?? PeerName(of: id)).avoiding(Set(peers.map(\.name))) }
        return try trust(id, changes, at: time)
    }

    /// - Returns: The removed peer; `nil` if no peer has that id or name.
    package mutating func distrust(_ text: String) -> TrustedPeer? {
        let id = try? DeviceIdentifier(text)
        guard let index = peers.firstIndex(where: { $0.id == id || $0.name.text == text }) else { return nil }
        return peers.remove(at: index)
    }
}

extension TrustList: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        peers = try container.decode([TrustedPeer].self, forKey: .peers)
        version = try container.decode(Int.self, forKey: .version)
        let isConsistent =
            version == Self.currentVersion && peers.count <= Self.longest
            && Set(peers.map(\.id)).count == peers.count && Set(peers.map(\.name)).count == peers.count
        guard isConsistent else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not a list"))
        }
    }
}

extension DeviceFolder {
    /// The devices that this device trusts now.
    public func trustList() throws(IdentityError) -> TrustList {
        guard let bytes = try folder.read(Self.peersFile) else { return TrustList() }
        return try Self.decodedLists.value(of: bytes) { (bytes) throws(IdentityError) in try decode(bytes) }
    }

    private static let decodedLists = DecodedOnce<TrustList>()

    private func decode(_ bytes: [UInt8]) throws(IdentityError) -> TrustList {
        if let found = FormatVersion.of(bytes), found > TrustList.currentVersion {
            throw .newerFormat(path.appending(Self.peersFile), found)
        }
        guard let list = try? JSONDecoder().decode(TrustList.self, from: Data(bytes)) else {
            // A list that cannot be read completely lets no device in.
            throw .damaged(path.appending(Self.peersFile), flaw: "it is no list of trusted devices")
        }
        return list
    }

    /// Where the list is; it need not be there.
    package var trustListPath: FilePath { path.appending(Self.peersFile) }

    /// The list's file, as it is now; `nil` if it has never been written. Each change replaces the file, so that two versions of the
    /// list differ in this. A change of the file's permissions alone counts as another version: whoever compares is then stricter than
    /// necessary.
    package func trustListVersion() throws(IdentityError) -> FileStatus? { try folder.status(of: Self.peersFile) }

    /// Changes the list under the lock of the folder, so that concurrent changes happen one after the other.
    package func changeTrustList<Result>(
        _ body: (inout TrustList) throws(TrustListError) -> Result
    ) throws(IdentityError) -> Swift.Result<Result, TrustListError> {
        try folder.whileLocked { () throws(IdentityError) in
            let before = try trustList()
            var list = before
            let result: Result
            do throws(TrustListError) {
                result = try body(&list)
            } catch {
                return .failure(error)
            }
            if list == before {
                try folder.sync()
            } else {
                let bytes = try Self.encode(list)
                guard bytes.count <= PrivateFolder.sizeLimit else { return .failure(.tooLong) }
                try folder.write(bytes, as: Self.peersFile)
            }
            return .success(result)
        }
    }

    private static func encode(_ list: TrustList) throws(IdentityError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(list) else { throw .notMade }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// - Throws: `IdentityError`, `TrustListError`.
    package func trust(_ id: DeviceIdentifier, _ changes: TrustList.PeerChanges, at time: Timestamp) throws
        -> TrustedPeer
    {
        if try existingIdentity()?.id == id { throw TrustListError.isThisDevice }
        return try changeTrustList { (list) throws(TrustListError) in try list.trust(id, changes, at: time) }.get()
    }

    /// Trusts a device in one more role, after pairing; a new peer gets a unique name.
    ///
    /// - Throws: `IdentityError`, `TrustListError`.
    package func trust(
        _ id: DeviceIdentifier, as role: TrustedPeer.Role, called name: PeerName, at time: Timestamp
    ) throws -> TrustedPeer {
        if try existingIdentity()?.id == id { throw TrustListError.isThisDevice }
        return try changeTrustList { (list) throws(TrustListError) in
            try list.trust(id, as: role, called: name, at: time)
        }.get()
    }

    /// Uses up the right of a peer to take a store over.
    ///
    /// - Returns: Whether it had that right.
    package func useTakeOver(of name: StoreName, by id: DeviceIdentifier) throws(IdentityError) -> Bool {
        switch try changeTrustList({ (list) throws(TrustListError) in list.tookOver(name, by: id) }) {
        case .success(let hadRight): return hadRight
        case .failure: return false
        }
    }

    /// Gives that right back, as the store was not taken over.
    package func returnTakeOver(of name: StoreName, to id: DeviceIdentifier) throws(IdentityError) {
        _ = try changeTrustList { (list) throws(TrustListError) in list.didNotTakeOver(name, by: id) }
    }

    /// - Returns: The removed peer; `nil` if no peer has that id or name.
    public func distrust(_ idOrName: String) throws(IdentityError) -> TrustedPeer? {
        // Changing the list would make the folder.
        guard try !trustList().isEmpty else {
            try folder.sync()
            return nil
        }
        switch try changeTrustList({ (list) throws(TrustListError) in list.distrust(idOrName) }) {
        case .success(let peer): return peer
        case .failure: return nil
        }
    }
}
