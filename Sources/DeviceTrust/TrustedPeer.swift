import EssentialFoundation
public import ShipProtocol
import StoreFiles
import SystemPackage

/// A device that this one trusts, and with what.
public struct TrustedPeer: Hashable, Sendable {
    public let id: DeviceIdentifier
    /// No two peers share one.
    public internal(set) var name: PeerName
    public internal(set) var roles: Set<Role>
    public internal(set) var stores: Stores
    /// Stores that it may send although they came from another device before.
    public internal(set) var takesOver: Set<StoreName>
    public let since: Timestamp

    /// What the peer may be.
    public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
        /// It sends stores, and this device installs them.
        case sender
        /// It is sent stores of this device.
        case receiver
    }

    /// Of which stores that goes.
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

extension DeviceFolder {
    /// Whom this device trusts now.
    public func trustList() throws(IdentityError) -> TrustList {
        guard let bytes = try folder.read(Self.peersFile) else { return TrustList() }
        guard let list = try? JSONDecoder().decode(TrustList.self, from: Data(bytes)) else {
            // Nobody is let in by a list that is half understood.
            throw .damaged(path.appending(Self.peersFile), flaw: "it is no list of trusted devices")
        }
        return list
    }

    /// Which state of the list is there now; `nil` if it has never been written. Each change makes a new one.
    package func trustListVersion() throws(IdentityError) -> TrustListVersion? {
        try folder.status(of: Self.peersFile).map(TrustListVersion.init)
    }

    /// Changes the list in one step: whoever else changes it at the same time does so before or after.
    package func changeTrustList<Result>(
        _ body: (inout TrustList) throws(TrustListError) -> Result
    ) throws(IdentityError) -> Swift.Result<Result, TrustListError> {
        try folder.make()
        return try folder.whileLocked { () throws(IdentityError) in
            let before = try trustList()
            var list = before
            let result: Result
            do throws(TrustListError) {
                result = try body(&list)
            } catch {
                return .failure(error)
            }
            if list != before { try folder.write(try Self.encode(list), as: Self.peersFile) }
            return .success(result)
        }
    }

    private static func encode(_ list: TrustList) throws(IdentityError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(list) else { throw .notMade }
        return Array(data) + [UInt8(ascii: "\n")]
    }

    /// Trusts a device from now on, or changes what it is trusted with.
    ///
    /// - Throws: `IdentityError`, `TrustListError`.
    public func trust(_ id: DeviceIdentifier, _ terms: TrustList.Terms, at time: Timestamp) throws -> TrustedPeer {
        if try existingIdentity()?.id == id { throw TrustListError.isThisDevice }
        return try changeTrustList { (list) throws(TrustListError) in try list.trust(id, terms, at: time) }.get()
    }

    /// Trusts a device in one more role, under a name that no other has: with both devices at hand, nobody is asked.
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

    /// A peer takes a store over, now: it may not do so again without being told anew.
    ///
    /// - Returns: Whether it might.
    package func useTakeOver(of name: StoreName, by id: DeviceIdentifier) throws(IdentityError) -> Bool {
        switch try changeTrustList({ (list) throws(TrustListError) in list.tookOver(name, by: id) }) {
        case .success(let might): return might
        case .failure: return false
        }
    }

    /// - Returns: The peer that is trusted no more; `nil` if there is none of that id or name.
    public func distrust(_ idOrName: String) throws(IdentityError) -> TrustedPeer? {
        // Nothing is made only to find that nobody is in it.
        guard try !trustList().isEmpty else { return nil }
        switch try changeTrustList({ (list) throws(TrustListError) in list.distrust(idOrName) }) {
        case .success(let peer): return peer
        case .failure: return nil
        }
    }
}

/// A state of the list of trusted devices, to be compared with another one: a change replaces the file.
package struct TrustListVersion: Hashable, Sendable {
    private let file: FileStatus.Identity
    private let size: Int64
    private let modified: Duration

    fileprivate init(_ status: FileStatus) {
        (file, size, modified) = (status.identity, status.size, status.modified)
    }
}
