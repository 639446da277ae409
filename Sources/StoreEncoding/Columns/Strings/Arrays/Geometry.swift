/// Where the points of a geometry stand in a blob.
///
/// Source: well-known binary (OGC 06-103r4 section 8.2), its extension by PostGIS (EWKB), the heads of GeoPackage (OGC 12-128r18, 2.1.3)
/// and SpatiaLite's blobs, each to its last byte.
struct Geometry {
    private(set) var layout: ArrayLayout
    /// Runs of points that are not empty.
    private(set) var arrays: [Range<Int>] = []

    private var rest: ArraySlice<UInt8>
    /// Which bytes each geometry of a collection begins with.
    private let lead: Lead

    private enum Lead {
        /// 0 for big-endian numbers, 1 for little-endian ones.
        case byteOrder
        /// 0x69.
        case mark
    }

    private static let deepest = 8

    /// - Returns: `nil` for other blobs, and for a geometry that has points of several kinds.
    init?(_ blob: ArraySlice<UInt8>) {
        // Until the first points are read.
        layout = ArrayLayout(width: ArrayLayout.realWidth, fields: 1, isBigEndian: false)
        rest = blob
        let first = Array(blob.prefix(40))
        guard first.count >= 9 else { return nil }
        if first[0] == UInt8(ascii: "G"), first[1] == UInt8(ascii: "P") {
            lead = .byteOrder
            let envelopes = [0, 32, 48, 48, 64]
            let kind = Int(first[3] >> 1 & 7)
            guard kind < envelopes.count else { return nil }
            rest = rest.dropFirst(8 + envelopes[kind])
        } else if first.count > 38, first[0] == 0, first[1] <= 1, first[38] == 0x7c, blob.last == 0xfe {
            lead = .mark
            rest = rest.dropFirst(39).dropLast()
            guard body(isBigEndian: first[1] == 0, depth: 0), rest.isEmpty, !arrays.isEmpty else { return nil }
            return
        } else {
            lead = .byteOrder
        }
        guard geometry(depth: 0), rest.isEmpty, !arrays.isEmpty else { return nil }
    }

    private mutating func geometry(isBigEndian: Bool = false, depth: Int) -> Bool {
        guard let byte = rest.popFirst(), depth < Self.deepest else { return false }
        switch lead {
        case .byteOrder: return byte <= 1 && body(isBigEndian: byte == 0, depth: depth)
        case .mark: return byte == 0x69 && body(isBigEndian: isBigEndian, depth: depth)
        }
    }

    private mutating func body(isBigEndian: Bool, depth: Int) -> Bool {
        guard let type = number(isBigEndian) else { return false }
        // EWKB's flags: z, m, and a reference system that follows.
        let (z, m) = (type >> 31 & 1, type >> 30 & 1)
        if type >> 29 & 1 == 1, number(isBigEndian) == nil { return false }
        let plain = type & 0x1fff_ffff
        let dimensions = 2 + z + m + [0, 1, 1, 2][plain / 1000 % 4]
        guard plain < 4000, dimensions <= 4 else { return false }
        let layout = ArrayLayout(width: ArrayLayout.realWidth, fields: dimensions, isBigEndian: isBigEndian)
        switch plain % 1000 {
        case 1: return points(1, layout)
        case 2:
            guard let count = number(isBigEndian) else { return false }
            return points(count, layout)
        case 3:
            guard let rings = number(isBigEndian) else { return false }
            for _ in 0..<rings {
                guard let count = number(isBigEndian), points(count, layout) else { return false }
            }
            return true
        case 4...7:
            guard let parts = number(isBigEndian) else { return false }
            for _ in 0..<parts {
                guard geometry(isBigEndian: isBigEndian, depth: depth + 1) else { return false }
            }
            return true
        default: return false
        }
    }

    private mutating func points(_ count: Int, _ layout: ArrayLayout) -> Bool {
        guard count <= rest.count / layout.elementSize else { return false }
        guard arrays.isEmpty || layout == self.layout else { return false }
        guard count > 0 else { return true }
        self.layout = layout
        arrays.append(rest.startIndex..<rest.startIndex + count * layout.elementSize)
        rest = rest.dropFirst(count * layout.elementSize)
        return true
    }

    /// The next 32 bits.
    private mutating func number(_ isBigEndian: Bool) -> Int? {
        guard rest.count >= 4 else { return nil }
        let bytes = rest.prefix(4)
        rest = rest.dropFirst(4)
        return (isBigEndian ? Array(bytes) : bytes.reversed()).reduce(0) { $0 << 8 | Int($1) }
    }
}
