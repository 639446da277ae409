import DeviceTrust
import NIOCore
import StoreFiles

/// Which connections a listener serves now, and which one is next.
///
/// A device gets another place only while more places are free than it has. So one device alone has at most half of them, two have at
/// most two thirds, and a device that comes later finds one free. Among the waiting connections the device with the fewest places goes
/// first, then the earliest connection. Connections of unknown devices cannot be told apart: they take any free place, in order.
///
/// Source: dynamic thresholds, as switches share their memory among queues (Choudhury and Hahne, 1998).
struct SharedPlaces<ID: Hashable> {
    private let count: Int
    /// Most connections of known devices that wait.
    private let waitingLimit: Int
    private var holders: [ID: DeviceIdentifier?] = [:]
    private var held: [DeviceIdentifier: Int] = [:]
    /// The earliest first.
    private var waiting: [(id: ID, device: DeviceIdentifier?)] = []

    init(_ count: Int, waitingLimit: Int) {
        (self.count, self.waitingLimit) = (count, waitingLimit)
    }

    var unknownWaits: Bool { waiting.contains { $0.device == nil } }

    /// A connection waits for a place.
    ///
    /// - Returns: The connection to close if too many wait: the newest one of the device with the most waiting connections.
    mutating func arrive(_ id: ID, of device: DeviceIdentifier?) -> ID? {
        waiting.append((id, device))
        let counts = waiting.reduce(into: [DeviceIdentifier: Int]()) { counts, entry in
            if let device = entry.device { counts[device, default: 0] += 1 }
        }
        guard counts.values.reduce(0, +) > waitingLimit, let crowd = counts.max(by: { $0.value < $1.value })?.key,
            let index = waiting.lastIndex(where: { $0.device == crowd })
        else { return nil }
        return waiting.remove(at: index).id
    }

    /// - Returns: The connection that gets a place now; `nil` if none can.
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

    /// A connection no longer waits, if it did.
    mutating func stopWaiting(_ id: ID) { waiting.removeAll { $0.id == id } }

    /// A connection gives its place back, if it had one.
    mutating func leave(_ id: ID) {
        guard let device = holders.removeValue(forKey: id).flatMap(\.self) else { return }
        held[device, default: 1] -= 1
        if held[device] == 0 { held[device] = nil }
    }
}

/// The connections of a listener that are in their handshake, so that their devices are not known yet.
///
/// A new connection always gets in. If there are too many, the oldest one of the address with the most goes. So an attacker with one
/// address pushes out only their own connections, and one with many addresses stays no longer than new connections take to arrive. An
/// honest handshake takes milliseconds, and is over by then.
struct PendingHandshakes {
    private let limit: Int
    /// The oldest first.
    private var entries: [(channel: any Channel, network: [UInt8])] = []
    private var counts: [[UInt8]: Int] = [:]

    init(limit: Int) { self.limit = limit }

    /// - Returns: The connection to close for it.
    mutating func add(_ channel: any Channel) -> (any Channel)? {
        let network = Self.network(ofAddress: channel.remoteAddress?.ipAddress ?? "")
        entries.append((channel, network))
        counts[network, default: 0] += 1
        guard entries.count > limit, let crowd = counts.max(by: { $0.value < $1.value })?.key else { return nil }
        return entries.firstIndex { $0.network == crowd }.map { remove(at: $0) }
    }

    mutating func remove(_ channel: any Channel) {
        guard let index = entries.firstIndex(where: { $0.channel === channel }) else { return }
        _ = remove(at: index)
    }

    private mutating func remove(at index: Int) -> any Channel {
        let entry = entries.remove(at: index)
        counts[entry.network, default: 1] -= 1
        if counts[entry.network] == 0 { counts[entry.network] = nil }
        return entry.channel
    }

    /// Before an IPv4 address that is written as one of IPv6 [RFC 4291 section 2.5.5.2].
    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// The part of an address that one device cannot choose freely: an IPv4 address, or the 64 bits of an IPv6 network
    /// [RFC 4291 section 2.5.4].
    ///
    /// - Parameter text: As numbers; no bytes come of any other text.
    static func network(ofAddress text: String) -> [UInt8] {
        // The interface follows the percent sign [RFC 4007 section 11].
        let all = PlatformCalls.bytes(ofNumericAddress: String(text.prefix { $0 != "%" })) ?? []
        return all.starts(with: mappedPrefix) ? Array(all.dropFirst(12)) : Array(all.prefix(8))
    }
}
