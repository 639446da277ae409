/// Reads the columns of one group, and keeps what later ones may refer to.
struct ColumnDecoder {
    /// The rowids, then each column.
    private(set) var integerReferences: [[Int64]?] = []
    /// By column.
    private(set) var columns: [ColumnValues] = []
    /// By column; `nil` for those that not each row has.
    private var wholes: [Bool] = []
    private var classReferences: [(ids: [Int64], count: Int)?] = []

    init(rowids: [Int64]?) { integerReferences = [rowids] }

    /// - Parameter count: Rows that have the column.
    mutating func decodeColumn(
        _ count: Int, isWhole: Bool, from source: inout SegmentSource
    ) throws(CompressionError) {
        var classes: (ids: [Int64], count: Int)?
        let column: ColumnValues
        try source.spend(values: count)
        let tag = try source.control.byte()
        if tag <= ColumnTag.lastPlain.rawValue {
            column = try plain(tag, count, refers: isWhole, from: &source)
        } else {
            guard isWhole, let tag = ColumnTag(rawValue: tag) else { throw .damaged(.segment) }
            switch tag {
            case .lastPlain: throw .damaged(.segment)
            case .dictionary:
                let number = try source.control.count(limit: count)
                let values = try plainValues(number, from: &source)
                let ids = try integers(count, depth: 1, from: &source)
                guard ids.allSatisfy({ $0 >= 0 && $0 < number }) else { throw .damaged(.segment) }
                column = values.expanded(ids)
                classes = (ids, number)
            case .determined:
                let other = try reference(from: &source)
                column = try plainValues(other.count, from: &source).expanded(other.ids)
                classes = other
            case .predicted:
                let other = try reference(from: &source)
                let number = try source.control.count(limit: count)
                let values = try plainValues(number, from: &source)
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
        integerReferences.append(isWhole && column.kindMask == 1 << ValueKind.integer ? column.integers : nil)
        columns.append(column)
        wholes.append(isWhole)
        classReferences.append(classes)
    }

    private func reference(
        from source: inout SegmentSource
    ) throws(CompressionError) -> (ids: [Int64], count: Int) {
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
    private func plainValues(
        _ count: Int, from source: inout SegmentSource
    ) throws(CompressionError) -> ColumnValues {
        let tag = try source.control.byte()
        guard tag <= ColumnTag.lastPlain.rawValue else { throw .damaged(.segment) }
        try source.spend(values: count)
        return try plain(tag, count, refers: false, from: &source)
    }

    private func plain(
        _ tag: UInt8, _ count: Int, refers: Bool, from source: inout SegmentSource
    ) throws(CompressionError) -> ColumnValues {
        var column = ColumnValues()
        let mask = tag & ValueKind.mask
        guard mask != 0 else { throw .damaged(.segment) }
        let isMixed = mask.nonzeroBitCount > 1
        if !isMixed {
            guard tag & ValueKind.kindsOfEarlier == 0 else { throw .damaged(.segment) }
            column.kinds = [UInt8](repeating: UInt8(mask.trailingZeroBitCount), count: count)
        } else if tag & ValueKind.kindsOfEarlier != 0 {
            let index = try source.control.count(limit: columns.count)
            guard refers, index < columns.count, wholes[index] else { throw .damaged(.segment) }
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
            counts[Int(ValueKind.integer)], refers: refersToValues && tag & ValueKind.wholeReals == 0, from: &source)
        column.reals = try reals(counts[Int(ValueKind.real)], from: &source)
        column.texts = try strings(counts[Int(ValueKind.text)], refers: refersToValues, from: &source)
        column.blobs = try strings(counts[Int(ValueKind.blob)], refers: refersToValues, from: &source)
        if tag & ValueKind.wholeReals != 0 {
            guard column.integers.isEmpty else { throw .damaged(.segment) }
            column.turnWholeRealsToIntegers()
        }
        return column
    }

    /// - Returns: The texts of an earlier whole column that has nothing else.
    func texts(_ index: Int) throws(CompressionError) -> Strings {
        guard index < columns.count, wholes[index], columns[index].kindMask == 1 << ValueKind.text else {
            throw .damaged(.segment)
        }
        return columns[index].texts
    }
}

extension ColumnValues {
    /// The value of `ids[row]` for each row.
    ///
    /// - Parameter ids: All below `count`.
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
        for (row, kind) in kinds.enumerated() where kind == ValueKind.real {
            if let whole = Self.whole(reals[real]) {
                integers.append(whole)
                kinds[row] = ValueKind.integer
            } else {
                left.append(reals[real])
            }
            real += 1
        }
        reals = left
    }
}
