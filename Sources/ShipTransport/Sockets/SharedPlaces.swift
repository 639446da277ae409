import DeviceTrust
import NIOCore
import StoreFiles

/// How many connections a listener serves at a time, and who is next.
///
/// A device gets another place only while more are free than it has: alone it has half of them at most, two together two
/// thirds, and whoever comes later finds one free. Of those who wait the device goes first that has fewest, then who came
/// first. Links on which nobody says which device they are of cannot be told apart, and take what there is, in order.
///
/// Source: dynamic thresholds, as switches share their memory among queues (Choudhury and Hahne, 1998).
struct SharedPlaces<ID: Hashable> {
    private struct Entry {
        let id: ID
        let device: DeviceIdentifier?
    }

    private let count: Int
    /// Most that wait of those that are known.
    private let waitingLimit: Int
    private var holders: [ID: DeviceIdentifier?] = [:]
    private var held: [DeviceIdentifier: Int] = [:]
    /// The first to come first.
    private var waiting: [Entry] = []

    init(_ count: Int, waitingLimit: Int) {
        (self.count, self.waitingLimit) = (count, waitingLimit)
    }

    /// Whether somebody waits of whom it is not known which device they are.
    var unknownWaits: Bool { waiting.contains { $0.device == nil } }

    /// A connection would like a place.
    ///
    /// - Returns: One that waits and has to go: if there are too many, the newest, of the device that has most of them.
    mutating func arrive(_ id: ID, of device: DeviceIdentifier?) -> ID? {
        waiting.append(Entry(id: id, device: device))
        let counts = waiting.reduce(into: [DeviceIdentifier: Int]()) { counts, entry in
            if let device = entry.device { counts[device, default: 0] += 1 }
        }
        guard counts.values.reduce(0, +) > waitingLimit, let crowd = counts.max(by: { $0.value < $1.value })?.key,
            let index = waiting.lastIndex(where: { $0.device == crowd })
        else { return nil }
        return waiting.remove(at: index).id
    }

    /// - Returns: Who gets a place now, and has it from then on; `nil` if nobody can.
    mutating func next() -> ID? {
        let free = count - holders.count
        guard free > 0 else { return nil }
        let candidates = waiting.indices.filter { index in waiting[index].device == nil || share(of: index) < free }
        guard let index = candidates.min(by: { (share(of: $0), $0) < (share(of: $1), $1) }) else { return nil }
        let entry = waiting.remove(at: index)
        holders.updateValue(entry.device, forKey: entry.id)
        if let device = entry.device { held[device, default: 0] += 1 }
        return entry.id
    }

    private func share(of index: Int) -> Int { waiting[index].device.flatMap { held[$0] } ?? 0 }

    /// A connection does not wait any more, if it did.
    mutating func stopWaiting(_ id: ID) { waiting.removeAll { $0.id == id } }

    /// A connection needs its place no more, if it had one.
    mutating func leave(_ id: ID) {
        guard let device = holders.removeValue(forKey: id).flatMap(\.self) else { return }
        held[device, default: 1] -= 1
        if held[device] == 0 { held[device] = nil }
    }
}

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
