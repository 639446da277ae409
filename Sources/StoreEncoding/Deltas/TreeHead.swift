import ShipCompression
import StoreFormat

/// The head of a tree: it precedes the first part.
///
/// Source: `Protocol/DELTA.md` section 4.
struct TreeHead {
    enum Base: Hashable {
        /// The tree of the same name.
        case named
        /// The tree at a place.
        case at(Int)
        case none(TreeKind)
    }

    var base = Base.named
    /// Which column of the base each column of its rows is, `nil` for none; `nil` if the rows have the columns of the base.
    var columns: [Int?]?
    /// Whether a rowid is by default the successor of the one before, and not that of the row in the base.
    var countsRowids = false
    /// The merged indexes: their places among the indexes of the table, and their shapes.
    var merged: [(index: Int, shape: IndexShape)] = []

    private static let countsRowidsFlag: UInt64 = 4
    private static let mergedFlag: UInt64 = 8
    private static let columnsFlag: UInt64 = 16
    private static let allFlags: UInt64 = 31

    func write(into areas: inout SegmentAreas) {
        var flags: UInt64
        switch base {
        case .named: flags = 0
        case .at: flags = 1
        case .none(.table): flags = 2
        case .none(.index): flags = 3
        }
        if countsRowids { flags |= Self.countsRowidsFlag }
        if !merged.isEmpty { flags |= Self.mergedFlag }
        if columns != nil { flags |= Self.columnsFlag }
        areas.unsigned(flags)
        if case .at(let place) = base { areas.count(place) }
        if let columns {
            areas.count(columns.count)
            for place in columns { areas.count(place.map { $0 + 1 } ?? 0) }
        }
        guard !merged.isEmpty else { return }
        areas.count(merged.count)
        for (index, shape) in merged {
            areas.count(index)
            for number in shape.numbers { areas.unsigned(number) }
        }
    }

    init() {}

    init(_ source: TreeSource?, _ kind: TreeKind) {
        base = source.map { $0.isNamed ? .named : .at($0.place) } ?? .none(kind)
        columns = source?.columns
    }

    init(from source: inout SegmentReader) throws(CompressionError) {
        let flags = try source.control.varint()
        guard flags <= Self.allFlags else { throw .damaged(.segment) }
        switch flags & 3 {
        case 0: base = .named
        case 1: base = .at(try source.control.count(limit: SchemaTrees.most))
        case 2: base = .none(.table)
        default: base = .none(.index)
        }
        countsRowids = flags & Self.countsRowidsFlag != 0
        if flags & Self.columnsFlag != 0 { columns = try Self.columns(from: &source) }
        guard flags & Self.mergedFlag != 0 else { return }
        let count = try source.control.count(limit: SegmentLimits.merged)
        var last = -1
        for _ in 0..<count {
            let index = try source.control.count(limit: SchemaTrees.most)
            guard index > last else { throw .damaged(.rows) }
            last = index
            let parts = try source.control.count(limit: IndexShape.mostParts)
            merged.append((index, try IndexShape(parts: parts, from: &source)))
        }
    }

    private static func columns(from source: inout SegmentReader) throws(CompressionError) -> [Int?] {
        var (columns, seen): ([Int?], Set<Int>) = ([], [])
        for _ in 0..<(try source.control.count(limit: SegmentLimits.columns)) {
            let number = try source.control.count(limit: SegmentLimits.columns)
            // A column that came twice would make records of any size.
            guard number == 0 || seen.insert(number).inserted else { throw .damaged(.rows) }
            columns.append(number == 0 ? nil : number - 1)
        }
        return columns
    }
}
