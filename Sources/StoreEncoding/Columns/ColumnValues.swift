/// The values of one column, apart by kind, each kind in the order of the rows.
struct ColumnValues: Equatable {
    // The kinds of SQLite's values, and the other bits of a column's tag that gives kinds (see `ColumnTag`).
    static let nullKind: UInt8 = 0
    static let integerKind: UInt8 = 1
    static let realKind: UInt8 = 2
    static let textKind: UInt8 = 3
    static let blobKind: UInt8 = 4

    /// Reals that are integers stand as integers in the records (REAL affinity).
    static let wholeReals: UInt8 = 0x20
    /// The kinds are those of an earlier column.
    static let kindsOfEarlier: UInt8 = 0x40
    static let kindsMask: UInt8 = 0x1f

    /// By row.
    var kinds: [UInt8] = []
    var integers: [Int64] = []
    /// Bit patterns.
    var reals: [UInt64] = []
    var texts: Strings
    var blobs: Strings

    /// - Parameter bytes: What the strings are in.
    init(in bytes: [UInt8] = []) {
        texts = Strings(in: bytes)
        blobs = Strings(in: bytes)
    }

    var count: Int { kinds.count }

    /// Which kinds there are, as bits.
    var kindMask: UInt8 {
        let nulls = kinds.count - integers.count - reals.count - texts.count - blobs.count
        return (nulls > 0 ? 1 : 0) | (integers.isEmpty ? 0 : 2) | (reals.isEmpty ? 0 : 4) | (texts.count == 0 ? 0 : 8)
            | (blobs.count == 0 ? 0 : 16)
    }

    /// The place of each row's value among those of its kind.
    func ordinals() -> [Int32] {
        var next: (Int32, Int32, Int32, Int32, Int32) = (0, 0, 0, 0, 0)
        return kinds.map { kind in
            switch kind {
            case Self.integerKind:
                defer { next.1 += 1 }
                return next.1
            case Self.realKind:
                defer { next.2 += 1 }
                return next.2
            case Self.textKind:
                defer { next.3 += 1 }
                return next.3
            case Self.blobKind:
                defer { next.4 += 1 }
                return next.4
            default:
                defer { next.0 += 1 }
                return next.0
            }
        }
    }

    /// The values of these rows, which are `ordinals` of them.
    func selecting(_ rows: [Int32], ordinals: [Int32]) -> ColumnValues {
        var selected = ColumnValues()
        selected.texts = Strings(in: texts.bytes)
        selected.blobs = Strings(in: blobs.bytes)
        for row in rows { selected.append(from: self, row: Int(row), ordinal: Int(ordinals[Int(row)])) }
        return selected
    }

    /// Adds a value of `source`, whose strings are in the same buffers.
    mutating func append(from source: ColumnValues, row: Int, ordinal: Int) {
        let kind = source.kinds[row]
        kinds.append(kind)
        switch kind {
        case Self.integerKind: integers.append(source.integers[ordinal])
        case Self.realKind: reals.append(source.reals[ordinal])
        case Self.textKind:
            texts.append(start: Int(source.texts.starts[ordinal]), length: Int(source.texts.lengths[ordinal]))
        case Self.blobKind:
            blobs.append(start: Int(source.blobs.starts[ordinal]), length: Int(source.blobs.lengths[ordinal]))
        default: break
        }
    }
}
