import NIOCore
import StoreFiles

/// The connections of a listener that are in their handshake: those from whom it is not known yet who they are.
///
/// There is always a place for a new one. If there are too many, the oldest goes, of the address that has most: somebody
/// with one address pushes out only their own, and somebody with many cannot stay for longer than the others take
/// to arrive. A handshake takes milliseconds, so that those who mean it are through by then.
struct UnknownConnections {
    private let limit: Int
    private let limitPerAddress: Int
    /// The oldest first.
    private var entries: [(channel: any Channel, address: PeerAddress)] = []
    private var counts: [PeerAddress: Int] = [:]

    init(limit: Int, limitPerAddress: Int) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
    }

    /// - Returns: The one that has to go for it.
    mutating func add(_ channel: any Channel) -> (any Channel)? {
        let address = PeerAddress(of: channel.remoteAddress)
        entries.append((channel, address))
        counts[address, default: 0] += 1
        if counts[address, default: 0] > limitPerAddress { return removeOldest(of: address) }
        guard entries.count > limit, let crowd = counts.max(by: { $0.value < $1.value })?.key else { return nil }
        return removeOldest(of: crowd)
    }

    mutating func remove(_ channel: any Channel) {
        guard let index = entries.firstIndex(where: { $0.channel === channel }) else { return }
        _ = remove(at: index)
    }

    private mutating func removeOldest(of address: PeerAddress) -> (any Channel)? {
        entries.firstIndex { $0.address == address }.map { remove(at: $0) }
    }

    private mutating func remove(at index: Int) -> any Channel {
        let entry = entries.remove(at: index)
        counts[entry.address, default: 1] -= 1
        if counts[entry.address] == 0 { counts[entry.address] = nil }
        return entry.channel
    }
}

/// Whom a network counts as one: an IPv4 address, or the 64 bits of an IPv6 network, in which a single device may have as
/// many addresses as it likes [RFC 4291 section 2.5.4].
struct PeerAddress: Hashable {
    private let bytes: [UInt8]

    /// Before an IPv4 address that is written as one of IPv6 [RFC 4291 section 2.5.5.2].
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    init(of address: SocketAddress?) { self.init(address?.ipAddress ?? "") }

    init(_ text: String) {
        // Beyond the percent sign stands the interface [RFC 4007 section 11].
        let all = PlatformCalls.bytes(ofNumericAddress: String(text.prefix { $0 != "%" })) ?? []
        bytes = all.starts(with: Self.mappedPrefix) ? Array(all.dropFirst(12)) : Array(all.prefix(8))
    }
}
