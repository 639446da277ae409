import StoreFormat

/// What is said of a tree when its first part comes.
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
    /// Whether a row's rowid is by default the one after the row before it, and not the one in the base.
    var countsRowids = false
    /// The indexes that are merged, by their places among those of the table, with what they are made of.
    var merged: [(index: Int, shape: IndexShape)] = []

    private static let countsRowidsFlag: UInt64 = 4
    private static let mergedFlag: UInt64 = 8

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
        areas.unsigned(flags)
        if case .at(let place) = base { areas.count(place) }
        guard !merged.isEmpty else { return }
        areas.count(merged.count)
        for (index, shape) in merged {
            areas.count(index)
            shape.write(into: &areas)
        }
    }

    init() {}

    init(from source: inout SegmentSource) throws(CompressionError) {
        let flags = try source.control.varint()
        guard flags < 16 else { throw .damaged(.segment) }
        switch flags & 3 {
        case 0: base = .named
        case 1: base = .at(try source.control.count(limit: SchemaTrees.most))
        case 2: base = .none(.table)
        default: base = .none(.index)
        }
        countsRowids = flags & Self.countsRowidsFlag != 0
        guard flags & Self.mergedFlag != 0 else { return }
        let count = try source.control.count(limit: DeltaLimits.merged)
        var last = -1
        for _ in 0..<count {
            let index = try source.control.count(limit: SchemaTrees.most)
            guard index > last else { throw .damaged(.rows) }
            last = index
            merged.append((index, try IndexShape(from: &source)))
        }
    }
}

extension IndexShape {
    /// Source: `Protocol/COLUMNS.md` section 1.3.
    func write(into areas: inout SegmentAreas) {
        areas.count(parts.count)
        for part in parts {
            let source: UInt64 =
                switch part.source {
                case .rowid: 0
                case .value(let place): UInt64(place) + 1
                }
            areas.unsigned(source << 3 | UInt64(part.collation.rawValue) << 1 | (part.direction == .descending ? 1 : 0))
        }
    }

    init(from source: inout SegmentSource) throws(CompressionError) {
        let count = try source.control.count(limit: Self.mostParts)
        guard count > 0 else { throw .damaged(.rows) }
        var parts: [Part] = []
        for _ in 0..<count {
            let number = try source.control.varint()
            guard let collation = Collation(rawValue: UInt8(truncatingIfNeeded: number >> 1 & 3)),
                number >> 3 <= UInt64(Self.mostParts)
            else { throw .damaged(.rows) }
            let source: Source = number >> 3 == 0 ? .rowid : .value(Int(number >> 3) - 1)
            parts.append(Part(source, collation, number & 1 == 1 ? .descending : .ascending))
        }
        self.init(parts)
    }
}
