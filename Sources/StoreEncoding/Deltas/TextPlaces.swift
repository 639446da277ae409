/// Finds the rows of a base whose texts and blobs have most in common with new ones.
///
/// It notes the hashes of windows of bytes, of all strings, with the rows that they are in: as many as there is room for, which are chosen by
/// the hash itself, so that the same windows are chosen in new strings.
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
    /// About how many bytes of strings a run has at most: all together fill a dictionary.
    private static let runSize = SegmentLimits.dictionarySize / SegmentLimits.dictionaryRuns

    private typealias Place = (tree: UInt32, row: UInt32)

    private var entries: [(hash: UInt64, place: Place)] = []
    /// Bits that are 0 in the hashes that are noted.
    private var mask: UInt64 = 0xF
    /// Rows of a run, by the places of the trees.
    private var runRows: [UInt32] = []

    /// Of the strings of all tables.
    init(_ base: DeltaStore) throws {
        for tree in base.trees.indices {
            runRows.append(1)
            guard tree > 0, base.trees[tree].isTable else { continue }
            var (rows, row, bytes) = (try base.rows(of: tree), DeltaRow(), 0)
            while try rows.next(&row) {
                guard !row.isLong, let values = DeltaValue.values(of: row.record) else { continue }
                for string in values.compactMap(\.string) {
                    bytes += string.count
                    note(string.span, (UInt32(tree), UInt32(truncatingIfNeeded: row.place)))
                }
                limit()
            }
            runRows[tree] = UInt32(max(1, Self.runSize / max(1, bytes / max(1, rows.position))))
        }
        sort()
    }

    /// Of the long rows of a tree.
    init(longRows rows: DeltaRows) throws {
        var (rows, row) = (rows, DeltaRow())
        while try rows.next(&row) {
            guard row.isLong else { continue }
            try rows.forEachPiece { piece in
                note(piece, (0, UInt32(truncatingIfNeeded: row.place)))
                limit()
            }
        }
        sort()
    }

    private mutating func note(_ bytes: Span<UInt8>, _ place: Place) {
        let mask = mask
        Self.forEachHash(of: bytes, mask) { entries.append(($0, place)) }
    }

    private mutating func limit() {
        while entries.count > Self.mostEntries {
            // A hash of nothing but zeros would stay for ever.
            guard mask < .max else { return entries = [] }
            mask = mask << 1 | 1
            let mask = mask
            entries.removeAll { $0.hash & mask != 0 }
        }
    }

    private mutating func sort() {
        entries.sort { ($0.hash, $0.place.tree, $0.place.row) < ($1.hash, $1.place.tree, $1.place.row) }
    }

    /// Of a run of one byte, whose windows are all the same, each but the first is passed over.
    private static func forEachHash(of bytes: Span<UInt8>, _ mask: UInt64, _ body: (UInt64) -> Void) {
        bytes.withUnsafeBufferPointer { bytes in
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

    /// The places of rows that have windows in common with bytes, one for each window and row.
    private func places(of bytes: Span<UInt8>) -> [Place] {
        var found: [Place] = []
        Self.forEachHash(of: bytes, mask) { hash in
            let first = entries.indices.first(notBefore: { entries[$0].hash < hash })
            let equal = entries[first...].prefix(Self.mostOfHash + 1).prefix { $0.hash == hash }
            if equal.count <= Self.mostOfHash { found += equal.map(\.place) }
        }
        return found
    }

    /// Runs of rows that have most windows in common with a text, the one with most of them last.
    func runs(for text: [UInt8]) -> [DictionaryRun] {
        let found = places(of: text.span).sorted { ($0.tree, $0.row) < ($1.tree, $1.row) }
        var parts = found.isEmpty ? [] : [found[...]]
        var runs: [DictionaryRun] = []
        while runs.count < SegmentLimits.dictionaryRuns {
            let densest = parts.map(densest)
            guard let most = densest.indices.max(by: { densest[$0].count < densest[$1].count }) else { break }
            let (part, rows) = (parts[most], parts[most][densest[most]])
            guard let first = rows.first, let last = rows.last else { break }
            runs.append((Int(first.tree), Int(first.row), Int(last.row - first.row) + 1))
            let rest = [part[..<rows.startIndex], part[rows.endIndex...]].filter { !$0.isEmpty }
            parts.replaceSubrange(most...most, with: rest)
        }
        return runs.reversed()
    }

    /// The most places that one run has.
    private func densest(_ found: ArraySlice<Place>) -> Range<Int> {
        var (start, best) = (found.startIndex, found.startIndex..<found.startIndex)
        for end in found.indices {
            let place = found[end]
            while found[start].tree != place.tree || place.row - found[start].row >= runRows[Int(place.tree)] {
                start += 1
            }
            if end + 1 - start > best.count { best = start..<(end + 1) }
        }
        return best
    }

    /// The row that has most windows in common with bytes; `nil` if none has several.
    func row(like bytes: any ByteSource) throws -> Int? {
        var (counts, start): ([UInt32: Int], Int64) = ([:], 0)
        while start < bytes.size {
            var buffer: [UInt8] = []
            let end = min(bytes.size, start + 65_536)
            try bytes.append(start..<end, to: &buffer)
            for place in places(of: buffer.span) { counts[place.row, default: 0] += 1 }
            start = end
        }
        let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
        return most.flatMap { $0.value > 1 ? Int($0.key) : nil }
    }
}
