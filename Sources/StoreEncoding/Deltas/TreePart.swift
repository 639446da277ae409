import ShipCompression
import StoreFormat

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
