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
            merged.append((index, try IndexShape(fromDelta: &source)))
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

/// A change in a tree, after rows that stay.
struct TreeEvent: Hashable {
    enum Kind: Int64, CaseIterable {
        /// Rows of the base are edited.
        case edit = 0
        /// Rows are new.
        case literal = 1
        /// There is only the jump.
        case skip = 2
        /// A long row; its record follows in pieces.
        case long = 3
    }

    /// Rows of the base that stay, before this event.
    var copies: Int
    var kind: Kind
    /// Rows that are edited or new.
    var count: Int
    /// Rows of the base that are skipped before the event's own.
    var jump: Int
    /// The difference of the rowids from the expected ones.
    var shift: Int64
}

/// Consecutive rows of a tree, as changes of those of the base.
///
/// Source: `Protocol/DELTA.md` section 4.
///
/// `Edits` is `EditEncoder` for a part that is written, and `EditDecoder` for one that is read.
struct TreePart<Edits> {
    var events: [TreeEvent] = []
    var edits: Edits
    var literals = RowGroup()
    /// The encoding of integers in the literals that were read; `nil` if their records may be any bytes.
    var madeForm: IntegerForm?
    var isLast = false
    /// Whether all remaining rows of the base stay; only in the last part.
    var copiesRest = false

    // The bits of its flags.
    private static var isLastFlag: UInt64 { 1 }
    private static var copiesRestFlag: UInt64 { 2 }
    private static var hasLengthsFlag: UInt64 { 4 }
    private static var hasJumpsFlag: UInt64 { 8 }
    private static var hasShiftsFlag: UInt64 { 16 }
    private static var changesCountsFlag: UInt64 { 32 }
    /// From here on: 0 where kinds differ, else the kind of all events plus 1.
    private static var kindShift: UInt64 { 6 }
    private static var allFlags: UInt64 { 1 << 9 - 1 }

    private static func defaultJump(_ kind: TreeEvent.Kind) -> Int64 { kind == .skip ? 1 : 0 }
}

extension TreePart<EditEncoder> {
    init() { self.init(edits: EditEncoder()) }

    func write(
        _ integers: IntegerForm, _ effort: SegmentEffort, _ cost: TrialCost, into areas: inout SegmentAreas
    ) throws(CompressionError) {
        let plain = ColumnEncoder(effort: effort, cost: cost)
        let lengths = events.filter { $0.kind == .edit || $0.kind == .literal }.map { Int64($0.count) }
        let jumps = events.map { Int64($0.jump) - Self.defaultJump($0.kind) }
        let shifts = events.map(\.shift)
        let kinds = Set(events.map(\.kind))
        var flags: UInt64 = (isLast ? Self.isLastFlag : 0) | (copiesRest ? Self.copiesRestFlag : 0)
        if lengths.contains(where: { $0 != 1 }) { flags |= Self.hasLengthsFlag }
        if jumps.contains(where: { $0 != 0 }) { flags |= Self.hasJumpsFlag }
        if shifts.contains(where: { $0 != 0 }) { flags |= Self.hasShiftsFlag }
        if edits.changesCounts { flags |= Self.changesCountsFlag }
        if kinds.count == 1, let kind = kinds.first { flags |= UInt64(kind.rawValue + 1) << Self.kindShift }
        areas.unsigned(flags)
        areas.count(events.count)
        guard !events.isEmpty else { return }
        plain.encode(events.map { Int64($0.copies) }, into: &areas)
        if kinds.count > 1 { plain.encode(events.map(\.kind.rawValue), into: &areas) }
        if flags & Self.hasLengthsFlag != 0 { plain.encode(lengths, into: &areas) }
        if flags & Self.hasJumpsFlag != 0 { plain.encode(jumps, into: &areas) }
        if flags & Self.hasShiftsFlag != 0 { plain.encode(shifts, into: &areas) }
        edits.write(effort, cost, into: &areas)
        if !literals.ends.isEmpty {
            areas.append(try literals.encode(integers, effort: effort, cost: cost))
        }
    }
}

extension TreePart<EditDecoder> {
    init(from source: inout SegmentReader) throws(CompressionError) {
        self.init(edits: .none)
        let plain = ColumnDecoder(rowids: nil)
        let flags = try source.control.varint()
        guard flags <= Self.allFlags, flags >> Self.kindShift <= UInt64(TreeEvent.Kind.allCases.count) else {
            throw .damaged(.segment)
        }
        isLast = flags & Self.isLastFlag != 0
        copiesRest = flags & Self.copiesRestFlag != 0
        guard isLast || !copiesRest else { throw .damaged(.segment) }
        let count = try source.control.count(limit: SegmentLimits.events)
        guard count > 0 else { return }
        let copies = try plain.integers(count, from: &source)
        let uniform = Int64(flags >> Self.kindShift)
        let kinds =
            uniform > 0
            ? [Int64](repeating: uniform - 1, count: count) : try plain.integers(count, from: &source)
        var numbers = [0, 0, 0, 0]
        for (index, kind) in kinds.enumerated() {
            guard let kind = TreeEvent.Kind(rawValue: kind), (0...Int64(UInt32.max)).contains(copies[index]),
                kind != .long || index == count - 1 && !isLast
            else { throw .damaged(.rows) }
            numbers[Int(kind.rawValue)] += 1
            events.append(
                TreeEvent(copies: Int(copies[index]), kind: kind, count: 1, jump: Int(Self.defaultJump(kind)), shift: 0)
            )
        }
        if flags & Self.hasLengthsFlag != 0 {
            var lengths = try plain.integers(numbers[0] + numbers[1], from: &source).makeIterator()
            numbers[0] = 0
            numbers[1] = 0
            for index in events.indices where events[index].kind == .edit || events[index].kind == .literal {
                guard let length = lengths.next(), length >= 1, length <= Int64(source.rowsLeft) else {
                    throw .damaged(.segmentLimit)
                }
                events[index].count = Int(length)
                numbers[Int(events[index].kind.rawValue)] += Int(length)
                guard numbers[0] <= SegmentLimits.edits, numbers[1] <= source.rowsLeft else {
                    throw .damaged(.segmentLimit)
                }
            }
        }
        if flags & Self.hasJumpsFlag != 0 {
            for (index, jump) in try plain.integers(count, from: &source).enumerated() {
                guard jump.magnitude <= UInt64(UInt32.max) else { throw .damaged(.rows) }
                events[index].jump += Int(jump)
            }
        }
        if flags & Self.hasShiftsFlag != 0 {
            for (index, shift) in try plain.integers(count, from: &source).enumerated() {
                events[index].shift = shift
            }
        }
        if numbers[0] > 0 {
            let changes = flags & Self.changesCountsFlag != 0
            edits = try EditDecoder(numbers[0], changesCounts: changes, from: &source)
        }
        if numbers[1] > 0 {
            literals = try RowGroup(from: &source)
            madeForm = source.madeForm
            guard literals.ends.count == numbers[1], literals.rowids?.count ?? numbers[1] == numbers[1] else {
                throw .damaged(.rows)
            }
        }
    }
}
