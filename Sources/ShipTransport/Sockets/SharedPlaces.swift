import DeviceTrust

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
