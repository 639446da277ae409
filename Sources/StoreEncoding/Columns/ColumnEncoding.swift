import ShipCompression

/// The first byte of a column: its encoding.
///
/// Source: `Protocol/COLUMNS.md` 2, "Column(n)".
private enum ColumnTag: UInt8 {
    /// The values follow, kind by kind. Each tag up to this one tells which kinds there are (see `ColumnValues`). The protocol
    /// calls such a column plain.
    case values = 0x7f
    /// The distinct values, and for each row which one it has.
    case dictionary = 0x80
    /// One value for each distinct value of an earlier column.
    case determined = 0x81
    /// The distinct values, and for each row which one it has, unless the last row with the same value in an earlier column has it too.
    case predicted = 0x82
    /// The values of an earlier column.
    case copy = 0x83
}

extension ColumnEncoder {
    /// Writes a column, and keeps what later columns may refer to.
    ///
    /// - Parameters:
    ///   - isInAllRows: Whether each row of the group has the column.
    ///   - isRepeated: Whether an earlier or a later column may have the same values. Only with classes can it be copied: each row is one.
    mutating func encode(
        _ column: ColumnValues, isInAllRows: Bool, isRepeated: Bool = false, into areas: inout SegmentAreas
    ) {
        let kinds = column.kindMask
        var classes: DistinctValues?
        if isInAllRows, column.count >= SegmentLimits.smallColumn, kinds != 1 {
            classes = DistinctValues(column, ordinals: column.ordinals())
            // Integers and texts can refer to earlier ones without classes.
            if classes == nil, isRepeated, kinds != 1 << ColumnValues.integerKind, kinds != 1 << ColumnValues.textKind {
                let rows = Array(0..<Int32(column.count))
                classes = DistinctValues(ids: rows, firstRows: rows)
            }
        }
        let known = write(column, classes, isInAllRows: isInAllRows, into: &areas)
        integerReferences.append(isInAllRows && kinds == 1 << ColumnValues.integerKind ? column.integers : nil)
        integerClasses.append(kinds == 1 << ColumnValues.integerKind ? classes : nil)
        classReferences.append(known)
        valueReferences.append(isInAllRows ? column : nil)
    }

    /// - Returns: The classes of the rows, if the decoder knows them from the encoding.
    private func write(
        _ column: ColumnValues, _ classes: DistinctValues?, isInAllRows: Bool, into areas: inout SegmentAreas
    ) -> DistinctValues? {
        guard let classes, classes.count > 1 else {
            writeValues(column, refers: isInAllRows, into: &areas)
            return nil
        }
        var determining: (column: Int, count: Int)?
        for (index, other) in classReferences.withinReach {
            guard let other, other.count <= (determining?.count ?? column.count), classes.isDetermined(by: other) else {
                continue
            }
            if other.count == classes.count, valueReferences[index] == column {
                write(.copy, index, column, classes, SegmentAreas(), into: &areas)
                return other
            }
            if other.count < determining?.count ?? Int.max { determining = (index, other.count) }
        }
        // Each with the column that it refers to.
        var candidates: [(tag: ColumnTag, reference: Int)] = [(.values, 0), (.dictionary, 0)]
        if repeatsText(column, classes) { candidates.removeFirst() }
        if let determining { candidates.append((.determined, determining.column)) }
        if let best = bestPredictor(of: classes) { candidates.append((.predicted, best)) }
        // Both encodings that have them write them in the same way, and long values take long.
        var distinct = SegmentAreas()
        cost.onTrial {
            writeValues(
                column.selecting(classes.firstRows, ordinals: column.ordinals()), refers: false, into: &distinct)
        }
        var best: (tag: ColumnTag, reference: Int, cost: Int, areas: SegmentAreas)?
        for (tag, reference) in candidates {
            var trial = SegmentAreas()
            cost.onTrial { write(tag, reference, column, classes, distinct, into: &trial) }
            let cost = tag == .values ? Self.shared(cost.of(trial)) : cost.of(trial)
            if cost < best?.cost ?? Int.max { best = (tag, reference, cost, trial) }
        }
        guard let best else { return nil }
        cost.keep(best.areas)
        areas.append(best.areas)
        return switch best.tag {
        case .values: nil
        case .dictionary, .predicted: classes
        case .determined, .copy: classReferences[best.reference]
        }
    }

    /// Whether so much text repeats that a dictionary is smaller without a trial. Without one each repetition is a match of deflate, of two
    /// bytes at least, if deflate sees that far back.
    private func repeatsText(_ column: ColumnValues, _ classes: DistinctValues) -> Bool {
        guard column.texts.count + column.blobs.count == column.count,
            column.texts.totalLength + column.blobs.totalLength > 8 * column.count
        else { return false }
        var ids = SegmentAreas()
        encode(classes.ids.map(Int64.init), depth: 1, into: &ids)
        return cost.of(ids) < 2 * (column.count - classes.count)
    }

    /// The column whose classes most often tell the next value.
    private func bestPredictor(of classes: DistinctValues) -> Int? {
        var best: (index: Int, hits: Int)?
        let ids = classes.ids.sampled(effort.sampleCount)
        let sample = DistinctValues(ids: ids, firstRows: classes.firstRows)
        for (index, other) in classReferences.withinReach {
            guard let other, other.count < classes.ids.count / 2 else { continue }
            let codes = sample.codes(predictedBy: other.ids.sampled(effort.sampleCount), count: other.count)
            let hits = codes.reduce(0) { $0 + ($1 == 0 ? 1 : 0) }
            if hits > best?.hits ?? (ids.count / 3) { best = (index, hits) }
        }
        return best?.index
    }

    /// - Parameters:
    ///   - reference: The column that the encoding refers to.
    ///   - distinct: The distinct values of `column`, as they are written.
    private func write(
        _ tag: ColumnTag, _ reference: Int, _ column: ColumnValues, _ classes: DistinctValues,
        _ distinct: SegmentAreas, into areas: inout SegmentAreas
    ) {
        switch tag {
        case .values: writeValues(column, refers: true, into: &areas)
        case .dictionary:
            areas.tag(tag.rawValue)
            areas.count(classes.count)
            areas.append(distinct)
            encode(classes.ids.map(Int64.init), depth: 1, into: &areas)
        case .determined:
            guard let other = classReferences[reference] else { return }
            areas.tag(tag.rawValue)
            areas.count(reference)
            guard other.firstRows != classes.firstRows else {
                areas.append(distinct)
                return
            }
            writeValues(column.selecting(other.firstRows, ordinals: column.ordinals()), refers: false, into: &areas)
        case .predicted:
            guard let other = classReferences[reference] else { return }
            areas.tag(tag.rawValue)
            areas.count(reference)
            areas.count(classes.count)
            areas.append(distinct)
            encode(classes.codes(predictedBy: other.ids, count: other.count), depth: 1, into: &areas)
        case .copy:
            areas.tag(tag.rawValue)
            areas.count(reference)
        }
    }

    /// Kinds, then the values of each kind.
    private func writeValues(_ column: ColumnValues, refers: Bool, into areas: inout SegmentAreas) {
        var column = column
        var kinds = column.kindMask
        if kinds & 0b110 == 0b110, column.areIntegersReals {
            column.turnIntegersToReals()
            kinds = column.kindMask | ColumnValues.wholeReals
        }
        let isMixed = (kinds & ColumnValues.kindsMask).nonzeroBitCount > 1
        let earlier =
            refers && isMixed ? valueReferences.withinReach.first { $0.element?.kinds == column.kinds }?.index : nil
        areas.tag(kinds | (earlier == nil ? 0 : ColumnValues.kindsOfEarlier))
        if let earlier {
            areas.count(earlier)
        } else if isMixed {
            encode(column.kinds.map(Int64.init), depth: 1, into: &areas)
        }
        let refersToValues = refers && !isMixed
        encode(column.integers, refers: refersToValues && kinds == 1 << ColumnValues.integerKind, into: &areas)
        encode(reals: column.reals, into: &areas)
        encode(column.texts, refers: refersToValues, into: &areas)
        encode(column.blobs, refers: refersToValues, into: &areas)
    }
}

extension ColumnDecoder {
    /// - Parameter count: Rows that have the column.
    mutating func decodeColumn(
        _ count: Int, isInAllRows: Bool, from source: inout SegmentReader
    ) throws(CompressionError) {
        var classes: (ids: [Int64], count: Int)?
        let column: ColumnValues
        try source.spend(values: count)
        let tag = try source.control.byte()
        if tag <= ColumnTag.values.rawValue {
            column = try values(tag, count, refers: isInAllRows, from: &source)
        } else {
            guard isInAllRows, let tag = ColumnTag(rawValue: tag) else { throw .damaged(.segment) }
            switch tag {
            case .values: throw .damaged(.segment)
            case .dictionary:
                let number = try source.control.count(limit: count)
                let values = try distinctValues(number, from: &source)
                let ids = try integers(count, depth: 1, from: &source)
                guard ids.allSatisfy({ $0 >= 0 && $0 < number }) else { throw .damaged(.segment) }
                column = values.expanded(ids)
                classes = (ids, number)
            case .determined:
                let other = try reference(from: &source)
                column = try distinctValues(other.count, from: &source).expanded(other.ids)
                classes = other
            case .predicted:
                let other = try reference(from: &source)
                let number = try source.control.count(limit: count)
                let values = try distinctValues(number, from: &source)
                let codes = try integers(count, depth: 1, from: &source)
                let ids = try Self.ids(codes, predictedBy: other, number: number)
                column = values.expanded(ids)
                classes = (ids, number)
            case .copy:
                let index = try source.control.count(limit: max(0, columns.count - 1))
                guard index < columns.count, let other = classReferences[index] else { throw .damaged(.segment) }
                column = columns[index]
                classes = other
            }
        }
        keep(column, classes, isInAllRows: isInAllRows)
    }

    private func reference(from source: inout SegmentReader) throws(CompressionError) -> (ids: [Int64], count: Int) {
        let index = try source.control.count(limit: classReferences.count)
        guard index < classReferences.count, let other = classReferences[index] else { throw .damaged(.segment) }
        return other
    }

    private static func ids(
        _ codes: [Int64], predictedBy other: (ids: [Int64], count: Int), number: Int
    ) throws(CompressionError) -> [Int64] {
        var last = [Int64](repeating: -1, count: other.count)
        var ids: [Int64] = []
        ids.reserveCapacity(codes.count)
        for (code, given) in zip(codes, other.ids) {
            let id = code == 0 ? last[Int(given)] : code &- 1
            guard id >= 0, id < number else { throw .damaged(.segment) }
            last[Int(given)] = id
            ids.append(id)
        }
        return ids
    }

    /// The values of a dictionary.
    private func distinctValues(
        _ count: Int, from source: inout SegmentReader
    ) throws(CompressionError) -> ColumnValues {
        let tag = try source.control.byte()
        guard tag <= ColumnTag.values.rawValue else { throw .damaged(.segment) }
        try source.spend(values: count)
        return try values(tag, count, refers: false, from: &source)
    }

    private func values(
        _ tag: UInt8, _ count: Int, refers: Bool, from source: inout SegmentReader
    ) throws(CompressionError) -> ColumnValues {
        var column = ColumnValues()
        let mask = tag & ColumnValues.kindsMask
        guard mask != 0 else { throw .damaged(.segment) }
        let isMixed = mask.nonzeroBitCount > 1
        if !isMixed {
            guard tag & ColumnValues.kindsOfEarlier == 0 else { throw .damaged(.segment) }
            column.kinds = [UInt8](repeating: UInt8(mask.trailingZeroBitCount), count: count)
        } else if tag & ColumnValues.kindsOfEarlier != 0 {
            let index = try source.control.count(limit: columns.count)
            guard refers, index < columns.count, areInAllRows[index] else { throw .damaged(.segment) }
            column.kinds = columns[index].kinds
        } else {
            for kind in try integers(count, depth: 1, from: &source) {
                guard kind >= 0, kind <= 4 else { throw .damaged(.segment) }
                column.kinds.append(UInt8(kind))
            }
        }
        var counts = [0, 0, 0, 0, 0]
        for kind in column.kinds {
            guard mask & (1 << kind) != 0 else { throw .damaged(.segment) }
            counts[Int(kind)] += 1
        }
        let refersToValues = refers && !isMixed
        column.integers = try integers(
            counts[Int(ColumnValues.integerKind)], refers: refersToValues && tag & ColumnValues.wholeReals == 0,
            from: &source)
        column.reals = try reals(counts[Int(ColumnValues.realKind)], from: &source)
        column.texts = try strings(counts[Int(ColumnValues.textKind)], refers: refersToValues, from: &source)
        column.blobs = try strings(counts[Int(ColumnValues.blobKind)], refers: refersToValues, from: &source)
        if tag & ColumnValues.wholeReals != 0 {
            guard column.integers.isEmpty else { throw .damaged(.segment) }
            column.turnWholeRealsToIntegers()
        }
        return column
    }
}

extension ColumnValues {
    /// SQLite stores an integral number in a REAL column as an integer if that takes less room than 8 bytes.
    ///
    /// Source: sqlite.org/fileformat2.html section 2.1, and `sqlite3VdbeIntegerAffinity`.
    static let wholeRealLimit: Int64 = 1 << 47

    /// Whether all integers, and none of the reals, are what that would give.
    fileprivate var areIntegersReals: Bool {
        integers.allSatisfy { $0 > -Self.wholeRealLimit && $0 < Self.wholeRealLimit }
            && reals.allSatisfy { Self.whole($0) == nil }
    }

    /// - Returns: The integer that stands for the real in the record, or `nil`.
    static func whole(_ bits: UInt64) -> Int64? {
        let value = Double(bitPattern: bits)
        guard abs(value) < Double(wholeRealLimit), value == value.rounded(.towardZero), bits != 1 << 63 else {
            return nil
        }
        return Int64(value)
    }

    fileprivate mutating func turnIntegersToReals() {
        var (integer, real) = (0, 0)
        var merged: [UInt64] = []
        for (row, kind) in kinds.enumerated() {
            switch kind {
            case ColumnValues.integerKind:
                merged.append(Double(integers[integer]).bitPattern)
                integer += 1
                kinds[row] = ColumnValues.realKind
            case ColumnValues.realKind:
                merged.append(reals[real])
                real += 1
            default: break
            }
        }
        integers = []
        reals = merged
    }

    /// The value of `ids[row]` for each row. All ids are below `count`.
    fileprivate func expanded(_ ids: [Int64]) -> ColumnValues {
        let places = ordinals()
        var expanded = ColumnValues()
        expanded.texts = Strings(in: texts.bytes)
        expanded.blobs = Strings(in: blobs.bytes)
        for id in ids { expanded.append(from: self, row: Int(id), ordinal: Int(places[Int(id)])) }
        return expanded
    }

    fileprivate mutating func turnWholeRealsToIntegers() {
        var left: [UInt64] = []
        var real = 0
        for (row, kind) in kinds.enumerated() where kind == ColumnValues.realKind {
            if let whole = Self.whole(reals[real]) {
                integers.append(whole)
                kinds[row] = ColumnValues.integerKind
            } else {
                left.append(reals[real])
            }
            real += 1
        }
        reals = left
    }
}
