/// Finds the rows of a tree of the base whose texts and blobs have most in common with new ones.
///
/// It notes the hashes of windows of bytes, of all strings of the tree, with the rows that they are in: as many as there is room for,
/// which are chosen by the hash itself, so that the same windows are chosen in new strings.
///
/// Memory: 4 MiB at most.
struct TextPlaces {
    private static let mostEntries = 1 << 18
    private static let window = 12
    /// A window of more rows tells nothing.
    private static let mostOfHash = 8
    private static let multiplier: UInt64 = 0x9e37_79b9_7f4a_7c15
    /// The factor of the first byte of a window in its hash.
    private static let highest = (1..<window).reduce(1 as UInt64) { product, _ in product &* multiplier }

    private var entries: [(hash: UInt64, row: UInt32)] = []
    /// Bits that are 0 in the hashes that are noted.
    private var mask: UInt64 = 0xF
    /// Bytes of a row's strings, on the average.
    private(set) var averageSize = 1

    /// - Parameter rows: At the first row.
    init(_ rows: DeltaRows) throws {
        var (rows, row, bytes) = (rows, DeltaRow(), 0)
        while try rows.next(&row) {
            guard !row.isLong, let values = DeltaValue.values(of: row.record) else { continue }
            let place = UInt32(truncatingIfNeeded: row.place)
            for value in values {
                guard let string = value.string else { continue }
                bytes += string.count
                Self.forEachHash(of: string, mask) { entries.append(($0, place)) }
            }
            while entries.count > Self.mostEntries {
                // A hash of nothing but zeros would stay for ever.
                guard mask < .max else {
                    entries = []
                    break
                }
                mask = mask << 1 | 1
                let mask = mask
                entries.removeAll { $0.hash & mask != 0 }
            }
        }
        averageSize = max(1, bytes / max(1, rows.position))
        entries.sort { ($0.hash, $0.row) < ($1.hash, $1.row) }
    }

    /// Of a run of one byte, whose windows are all the same, each but the first is passed over.
    private static func forEachHash(of string: ArraySlice<UInt8>, _ mask: UInt64, _ body: (UInt64) -> Void) {
        string.withUnsafeBufferPointer { bytes in
            guard bytes.count >= window else { return }
            var (hash, last) = (0 as UInt64, nil as UInt64?)
            for place in bytes.indices {
                if place >= window { hash &-= UInt64(bytes[place - window]) &* highest }
                hash = hash &* multiplier &+ UInt64(bytes[place])
                guard place >= window - 1 else { continue }
                // The low bits depend on the last bytes alone.
                let mixed = hash ^ hash >> 32
                if mixed & mask == 0, mixed != last { body(mixed) }
                last = mixed
            }
        }
    }

    /// The first of `count` consecutive rows that have most windows in common with `text`; `nil` if none has.
    func best(_ count: Int, for text: [UInt8]) -> Int? {
        var found: [UInt32] = []
        Self.forEachHash(of: text[...], mask) { hash in
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].hash < hash { low = middle + 1 } else { high = middle }
            }
            let equal = entries[low...].prefix(Self.mostOfHash + 1).prefix { $0.hash == hash }
            if equal.count <= Self.mostOfHash { found += equal.map(\.row) }
        }
        found.sort()
        var (start, best): (Int, (start: Int, count: Int)?) = (0, nil)
        for end in found.indices {
            while Int(found[end]) - Int(found[start]) >= count { start += 1 }
            if end + 1 - start > best?.count ?? 0 { best = (start, end + 1 - start) }
        }
        return best.map { Int(found[$0.start]) }
    }
}
