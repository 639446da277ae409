import StoreFormat

/// What happens in a tree after rows that stay.
struct TreeEvent: Hashable {
    enum Kind: Int64, CaseIterable {
        /// Rows of the base, changed.
        case edit = 0
        /// Rows of which nothing is in the base.
        case literal = 1
        /// Nothing more than the jump.
        case skip = 2
        /// One long row, whose record follows in pieces.
        case long = 3
    }

    /// Rows of the base that stay as they are, before it.
    var copies: Int
    var kind: Kind
    /// Rows.
    var count: Int
    /// Rows of the base that are passed over, before its own.
    var jump: Int
    /// What rowids differ by from those that were to come.
    var shift: Int64
}

/// What an item is.
///
/// Source: `Protocol/DELTA.md` section 2.
enum DeltaTag: UInt64 {
    case same = 0
    case part = 1
    case derived = 2
    case merged = 3
    case piece = 4
}

/// The bits of a part's flags.
enum PartFlag {
    static let isLast: UInt64 = 1
    static let copiesRest: UInt64 = 2
    static let hasLengths: UInt64 = 4
    static let hasJumps: UInt64 = 8
    static let hasShifts: UInt64 = 16
    static let changesCounts: UInt64 = 32
    /// From here on: 0 where kinds differ, else the kind of all events plus 1.
    static let kindShift: UInt64 = 6
    static let all: UInt64 = 1 << 9 - 1
}

/// Consecutive rows of a tree, by what they are in the base.
///
/// Source: `Protocol/DELTA.md` section 4.
struct TreePart {
    var events: [TreeEvent] = []
    var edits = EditedRows()
    var literals = RowGroup()
    var isLast = false
    /// Whether all rows of the base that are left stay; only of the last part.
    var copiesRest = false

    private static func defaultJump(_ kind: TreeEvent.Kind) -> Int64 { kind == .skip ? 1 : 0 }

    func write(
        _ integers: IntegerForm, _ effort: SegmentEffort, _ cost: TrialCost, into areas: inout SegmentAreas
    ) throws(CompressionError) {
        let plain = ColumnEncoder(effort: effort, cost: cost)
        let lengths = events.filter { $0.kind == .edit || $0.kind == .literal }.map { Int64($0.count) }
        let jumps = events.map { Int64($0.jump) - Self.defaultJump($0.kind) }
        let shifts = events.map(\.shift)
        let kinds = Set(events.map(\.kind))
        var flags: UInt64 = (isLast ? PartFlag.isLast : 0) | (copiesRest ? PartFlag.copiesRest : 0)
        if lengths.contains(where: { $0 != 1 }) { flags |= PartFlag.hasLengths }
        if jumps.contains(where: { $0 != 0 }) { flags |= PartFlag.hasJumps }
        if shifts.contains(where: { $0 != 0 }) { flags |= PartFlag.hasShifts }
        if edits.changesCounts { flags |= PartFlag.changesCounts }
        if kinds.count == 1, let kind = kinds.first { flags |= UInt64(kind.rawValue + 1) << PartFlag.kindShift }
        areas.unsigned(flags)
        areas.count(events.count)
        guard !events.isEmpty else { return }
        plain.encode(events.map { Int64($0.copies) }, into: &areas)
        if kinds.count > 1 { plain.encode(events.map(\.kind.rawValue), into: &areas) }
        if flags & PartFlag.hasLengths != 0 { plain.encode(lengths, into: &areas) }
        if flags & PartFlag.hasJumps != 0 { plain.encode(jumps, into: &areas) }
        if flags & PartFlag.hasShifts != 0 { plain.encode(shifts, into: &areas) }
        edits.write(effort, cost, into: &areas)
        if !literals.ends.isEmpty {
            areas.append(try literals.encode(integers, effort: effort, cost: cost))
        }
    }

    /// What a part says, before anything is done with it.
    struct Plan {
        var events: [TreeEvent] = []
        var edits = RowEdits.none
        var literals = RowGroup()
        /// The encoding of the literals' records; `nil` if they may be anything.
        var madeForm: IntegerForm?
        var isLast = false
        var copiesRest = false

        /// - Parameters:
        ///   - rowsLeft: Most rows of the segment; is counted down.
        ///   - contentLeft: Most bytes of records of the segment; is counted down.
        init(
            from source: inout SegmentSource, rowsLeft: inout Int, contentLeft: inout Int
        ) throws(CompressionError) {
            let plain = ColumnDecoder(rowids: nil)
            let flags = try source.control.varint()
            guard flags <= PartFlag.all, flags >> PartFlag.kindShift <= UInt64(TreeEvent.Kind.allCases.count) else {
                throw .damaged(.segment)
            }
            isLast = flags & PartFlag.isLast != 0
            copiesRest = flags & PartFlag.copiesRest != 0
            guard isLast || !copiesRest else { throw .damaged(.segment) }
            let count = try source.control.count(limit: DeltaLimits.events)
            guard count > 0 else { return }
            let copies = try plain.integers(count, from: &source)
            let uniform = Int64(flags >> PartFlag.kindShift)
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
                    TreeEvent(copies: Int(copies[index]), kind: kind, count: 1, jump: kind == .skip ? 1 : 0, shift: 0))
            }
            if flags & PartFlag.hasLengths != 0 {
                var lengths = try plain.integers(numbers[0] + numbers[1], from: &source).makeIterator()
                numbers[0] = 0
                numbers[1] = 0
                for index in events.indices where events[index].kind == .edit || events[index].kind == .literal {
                    guard let length = lengths.next(), length >= 1, length <= Int64(rowsLeft) else {
                        throw .damaged(.segmentLimit)
                    }
                    events[index].count = Int(length)
                    numbers[Int(events[index].kind.rawValue)] += Int(length)
                    guard numbers[0] <= DeltaLimits.edits, numbers[1] <= rowsLeft else {
                        throw .damaged(.segmentLimit)
                    }
                }
            }
            if flags & PartFlag.hasJumps != 0 {
                for (index, jump) in try plain.integers(count, from: &source).enumerated() {
                    guard abs(Double(jump)) < Double(UInt32.max) else { throw .damaged(.rows) }
                    events[index].jump += Int(jump)
                }
            }
            if flags & PartFlag.hasShifts != 0 {
                for (index, shift) in try plain.integers(count, from: &source).enumerated() {
                    events[index].shift = shift
                }
            }
            if numbers[0] > 0 {
                let changes = flags & PartFlag.changesCounts != 0
                edits = try RowEdits(numbers[0], changesCounts: changes, from: &source)
            }
            if numbers[1] > 0 {
                literals = try RowGroup(
                    from: &source, rowLimit: rowsLeft, sizeLimit: contentLeft, madeForm: &madeForm)
                guard literals.ends.count == numbers[1], literals.rowids?.count ?? numbers[1] == numbers[1] else {
                    throw .damaged(.rows)
                }
                rowsLeft -= literals.ends.count
                contentLeft -= literals.records.count
            }
        }
    }
}
