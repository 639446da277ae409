import StoreFormat

/// Rows of a tree, as hashes of their values.
///
/// The hashes have a key of their own in each process: nothing that is chosen may depend on their order.
struct TreeSample {
    struct SampledRow {
        let rowid: Int64
        /// Of all values.
        let values: [UInt64]
        /// Of what hardly another row has by chance: the row itself, longer texts and blobs, large numbers.
        let keys: [UInt64]
    }

    private static let mostBytes = 1 << 20
    private static let mostKeysOfRow = 5
    private static let shortestString = 4
    private static let leastInteger = 1000
    private static let longValue = 1000
    /// The header of a record with many columns.
    private static let headSize = 4096

    private(set) var rows: [SampledRow] = []
    private let kind: TreeKind

    /// - Parameters:
    ///   - source: At the first row.
    ///   - most: Rows: of the first ones, and of those from a rowid on.
    init(_ source: DeltaRows, most: Int, andFromRowid rowid: Int64? = nil) throws {
        var source = source
        kind = source.kind
        try add(&source, most: most)
        guard kind == .table, let rowid, let last = rows.last, last.rowid < rowid else { return }
        try source.move(toRowid: rowid)
        try add(&source, most: rows.count + most)
    }

    private mutating func add(_ source: inout DeltaRows, most: Int) throws {
        var (row, size) = (DeltaRow(), 0)
        while rows.count < most, size < Self.mostBytes, try source.next(&row) {
            size += row.size
            if row.isLong {
                let types = try Self.types(of: source)
                rows.append(Self.sampled(row, types, kind) { SerialType.length($0) ?? 0 > Self.longValue })
            } else if let values = DeltaValue.values(of: row.record) {
                rows.append(Self.sampled(row, values, kind, isTelling: Self.isTelling))
            }
        }
    }

    private static func sampled<Value: Hashable>(
        _ row: DeltaRow, _ values: [Value], _ kind: TreeKind, isTelling: (Value) -> Bool
    ) -> SampledRow {
        var whole = Hasher()
        if kind == .table { whole.combine(row.rowid) }
        whole.combine(values)
        func hash(_ value: Value) -> UInt64 { UInt64(truncatingIfNeeded: value.hashValue) }
        let first = UInt64(truncatingIfNeeded: whole.finalize())
        return SampledRow(
            rowid: row.rowid, values: values.map(hash), keys: [first] + values.filter(isTelling).map(hash))
    }

    /// The types of the values of the long row that `source` gave last: the length of a long value tells much.
    private static func types(of source: DeltaRows) throws -> [UInt64] {
        var head: [UInt8] = []
        guard let record = try source.places() else { return [] }
        try record.append(0..<min(record.size, headSize), to: &head)
        var (position, types): (Int, [UInt64]) = (0, [])
        let span = head.span
        let end = Varint.read(span, at: &position) ?? 0
        while position < end, let type = Varint.read(span, at: &position) { types.append(type) }
        return types
    }

    private static func isTelling(_ value: DeltaValue) -> Bool {
        switch value {
        case .null: false
        case .integer(let integer): integer.magnitude >= UInt64(leastInteger)
        case .real: true
        case .text(let bytes), .blob(let bytes): bytes.count >= shortestString
        }
    }

    var keys: Set<UInt64> { Set(rows.flatMap { $0.keys.prefix(Self.mostKeysOfRow) }) }

    /// The share of the keys that another sample has too.
    func likeness(to other: TreeSample) -> Double {
        let theirs = Set(other.rows.flatMap(\.keys))
        let keys = rows.flatMap(\.keys)
        return Double(keys.count { theirs.contains($0) }) / Double(max(1, keys.count))
    }

    /// The rows, each with the row of the base that has most in common with it; those without one are left out.
    func pairs(with base: TreeSample) -> [(new: SampledRow, old: SampledRow)] {
        var (rowids, holders): ([Int64: Int], [UInt64: [Int]]) = ([:], [:])
        for (place, row) in base.rows.enumerated() {
            if kind == .table { rowids[row.rowid] = place }
            for key in row.keys { holders[key, default: []].append(place) }
        }
        return rows.compactMap { row in
            var counts: [Int: Int] = [:]
            // A value of many rows tells little.
            for key in row.keys {
                for place in (holders[key] ?? []).prefix(4) { counts[place, default: 0] += 2 }
            }
            if let place = rowids[row.rowid] { counts[place, default: 0] += 1 }
            let best = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
            return best.map { (row, base.rows[$0.key]) }
        }
    }
}
