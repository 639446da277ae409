package import ShipCompression
import StoreFormat

/// Rows of one b-tree, in its order. In a segment they are column by column, or row by row where that is smaller.
///
/// Source: `Protocol/COLUMNS.md` 2, "Row groups".
package struct RowGroup: Hashable, Sendable {
    /// The rowids of a table; `nil` in index-organised trees (WITHOUT ROWID tables, index b-trees).
    package var rowids: [Int64]?
    /// SQLite records back to back, in canonical encoding (`IntegerForm`).
    package var records: [UInt8]
    /// Where each record ends in `records`.
    package var ends: [Int]

    package init(rowids: [Int64]? = nil, records: [UInt8] = [], ends: [Int] = []) {
        self.rowids = rowids
        self.records = records
        self.ends = ends
    }
}

/// Is told about what a part of a table takes by itself, in bytes: a weight to compare with the other parts.
package typealias PartNote = (_ part: TablePart, _ cost: Int) -> Void

extension RowGroup {
    // The bits of a group's first byte.
    private static let (rowidsBit, legacyBit, rowWiseBit): (UInt8, UInt8, UInt8) = (1, 2, 4)

    /// - Parameters:
    ///   - found: How much of the records the dictionary of the segment has.
    ///   - keys: What is known of columns whose values stand elsewhere.
    ///   - kept: Such columns of earlier groups whose values stand in the text area.
    ///   - note: Is told what each column takes, column by column; the rows may take less row by row.
    /// - Throws: `.notCanonical`.
    func encode(
        _ form: IntegerForm, effort: SegmentEffort, cost: TrialCost, found: (count: Int, bytes: Int)? = nil,
        sharing keys: [Int: SharedKeys] = [:], after kept: [SharedKeys] = [], noting note: PartNote? = nil
    ) throws(CompressionError) -> SegmentAreas {
        var columnar = SegmentAreas()
        let head = (rowids == nil ? 0 : Self.rowidsBit) | (form == .legacy ? Self.legacyBit : 0)
        columnar.count(ends.count)
        guard !ends.isEmpty else { return columnar }
        var rowWise = columnar
        columnar.tag(head)
        rowWise.tag(head | Self.rowWiseBit)

        var parser = try RecordParser(self, form: form)
        var encoder = ColumnEncoder(effort: effort, cost: cost)
        if let rowids {
            guard rowids.count == ends.count else { throw .notCanonical }
            var areas = SegmentAreas()
            encoder.encode(rowids, into: &areas)
            note?(.rowids, cost.of(areas))
            columnar.append(areas)
            rowWise.append(areas)
        }
        encoder.integerReferences[0] = rowids
        encoder.keptColumns = Set(kept.map(\.column))
        encoder.isMostlyFound = found.map { $0.bytes * 2 >= records.count } ?? false
        let counts = try parser.columnCounts()
        let least = counts.min() ?? 0
        let most = counts.max() ?? 0
        encoder.encode(counts, into: &columnar)
        let repeated = try repeatedColumns(form)
        /// Bytes that matches of keys save, which no measure of the areas shows.
        var matched = 0
        for column in 0..<most {
            let values = try parser.nextColumn()
            var areas = SegmentAreas()
            encoder.sharedKeys = keys[Int(column)]
            encoder.encode(values, isInAllRows: column < least, isRepeated: repeated.contains(column), into: &areas)
            if let keys = areas.keyColumns.first {
                let size = cost.of(areas)
                matched += size - keys.ownCost(of: ends.count, asTheyStand: size, where: encoder.keptColumns)
                encoder.keptColumns.insert(keys.column)
            }
            note?(.value(Int(column)), cost.of(areas))
            columnar.append(areas)
        }
        try parser.checkEnds()

        // In rows streams stay noise. That their contents take no more is not to be seen in an estimate.
        let streams = columnar.streams.content - columnar.streams.growth
        guard effort.thoroughness == .great || streams < records.count / 2 else { return columnar }
        // For many rows, columns are nearly always smaller, and comparing takes long.
        let columnarCost = cost.of(columnar) - matched
        let isFound = found.map { isSmaller(than: columnar, finding: $0, cost) } ?? false
        guard
            isFound || records.count <= effort.comparedSize
                || ColumnEncoder.shared(cost.estimated(records)) < columnarCost
        else { return columnar }
        var lengths = ends
        for index in lengths.indices.dropFirst() { lengths[index] = ends[index] - ends[index - 1] }
        encoder.encode(lengths.map(Int64.init), into: &rowWise)
        rowWise.text += records
        guard isFound || cost.of(rowWise) < columnarCost else { return columnar }
        cost.room += columnar.streams
        // Keys that stand as they are made the columns larger: without that these may be smaller than the rows.
        guard columnar.keyColumns.isEmpty else {
            return try encode(form, effort: effort, cost: cost, found: found, noting: note)
        }
        return rowWise
    }

    /// Rows that are looked at to see which columns are the same.
    private static let comparedRows = 16

    /// The columns that have the same values as another one, as far as a few rows tell.
    private func repeatedColumns(_ form: IntegerForm) throws(CompressionError) -> Set<Int64> {
        var few = RowGroup()
        for row in stride(from: 0, to: ends.count, by: max(1, ends.count / Self.comparedRows)) {
            few.records += records[(row == 0 ? 0 : ends[row - 1])..<ends[row]]
            few.ends.append(few.records.count)
        }
        var parser = try RecordParser(few, form: form)
        var (last, repeated): ([[UInt64]: Int64], Set<Int64>) = ([:], [])
        for column in 0..<(try parser.columnCounts().min() ?? 0) {
            let values = try parser.nextColumn()
            let hashes = zip(0..., values.ordinals()).map { values.hash(row: $0, ordinal: Int($1)) }
            if let earlier = last.updateValue(column, forKey: hashes), column - earlier <= ColumnEncoder.reach {
                repeated.formUnion([earlier, column])
            }
        }
        return repeated
    }

    /// Whether the rows are smaller row by row, as a dictionary has much of them as they are. Columns are taken apart, so that only long
    /// strings are found again in them, as long as they stand as they are.
    private func isSmaller(than columnar: SegmentAreas, finding found: (count: Int, bytes: Int), _ cost: TrialCost)
        -> Bool
    {
        guard found.bytes >= records.count / 2 else { return false }
        let rest = records.count - min(records.count, found.bytes)
        let rowWise = cost.estimated(records) * rest / records.count + found.count * Self.matchCost
        let size = columnar.text.count
        let areLong = found.bytes > found.count * Self.longMatch && size <= records.count
        let textCost =
            areLong && size > 0 ? cost.of(columnar.text) * max(0, size - found.bytes) / size : cost.of(columnar.text)
        return rowWise < columnar.control.count + cost.of(columnar.numbers) + textCost
            + (areLong ? found.count * Self.matchCost : 0)
    }

    /// Bytes that a match takes, about.
    private static let matchCost = 5
    /// Matches of so many bytes or more are parts of strings.
    private static let longMatch = 256

    /// Reads what `encode` wrote, within what is left of the segment's limits.
    init(from source: inout SegmentReader) throws(CompressionError) {
        self.init()
        let count = try source.control.count(limit: source.rowsLeft)
        guard count > 0 else { return }
        let head = try source.control.byte()
        guard head <= 7 else { throw .damaged(.segment) }
        let form = head & Self.legacyBit == 0 ? IntegerForm.modern : .legacy
        source.madeForm = head & Self.rowWiseBit == 0 ? form : nil
        var decoder = ColumnDecoder(rowids: nil)
        if head & Self.rowidsBit != 0 {
            let rowids = try decoder.integers(count, from: &source)
            decoder = ColumnDecoder(rowids: rowids)
            self.rowids = rowids
        }
        let limit = min(source.contentLeft, SegmentLimits.groupSize)
        if head & Self.rowWiseBit != 0 {
            try readRows(count, decoder, limit: limit, from: &source)
        } else {
            try readColumns(count, &decoder, form, limit: limit, from: &source)
        }
        source.rowsLeft -= ends.count
        source.contentLeft -= records.count
    }

    private mutating func readRows(
        _ count: Int, _ decoder: ColumnDecoder, limit: Int, from source: inout SegmentReader
    ) throws(CompressionError) {
        var end = 0
        for length in try decoder.integers(count, from: &source) {
            guard length >= 1, length <= Int64(limit - end) else { throw .damaged(.segmentLimit) }
            end += Int(length)
            ends.append(end)
        }
        let range = try source.text.take(end)
        records = Array(source.text.bytes[range])
    }

    private mutating func readColumns(
        _ count: Int, _ decoder: inout ColumnDecoder, _ form: IntegerForm, limit: Int,
        from source: inout SegmentReader
    ) throws(CompressionError) {
        let counts = try decoder.integers(count, from: &source)
        var builder = try RecordBuilder(columnCounts: counts, form: form, limit: limit)
        for column in 0..<builder.most {
            try decoder.decodeColumn(
                builder.rows(withColumn: column), isInAllRows: column < builder.least, from: &source)
            try builder.measure(decoder.columns[column])
        }
        (records, ends) = builder.build(decoder.columns)
    }
}

extension RowGroup {
    /// Whether each record is canonical, and not long.
    ///
    /// - Parameter made: The encoding in which they were made of columns: then they are canonical in that one.
    func areCanonical(_ integers: IntegerForm, madeIn made: IntegerForm?) -> Bool {
        var start = 0
        for end in ends {
            guard end >= start, end - start <= CanonicalForm.longestHeldRecord, end <= records.count,
                made == integers
                    || CanonicalRecord.isCanonical(records.span.extracting(start..<end), integers) == true
            else { return false }
            start = end
        }
        return start == records.count
    }
}

extension SegmentReader {
    package mutating func rows() throws(CompressionError) -> RowGroup { try RowGroup(from: &self) }
}
