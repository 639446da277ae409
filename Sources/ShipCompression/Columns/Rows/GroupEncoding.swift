import StoreFormat

extension RowGroup {
    /// - Parameter note: Is told what each column takes, if the rows go by their columns; they may be smaller otherwise.
    /// - Throws: `.notCanonical`.
    func encode(
        _ form: IntegerForm, effort: SegmentEffort, cost: TrialCost, noting note: PartNote? = nil
    ) throws(CompressionError) -> SegmentAreas {
        var columnar = SegmentAreas()
        let head = (rowids == nil ? 0 : GroupTag.hasRowids) | (form == .legacy ? GroupTag.isLegacy : 0)
        columnar.count(ends.count)
        guard !ends.isEmpty else { return columnar }
        var rowWise = columnar
        columnar.tag(head)
        rowWise.tag(head | GroupTag.isRowWise)

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
        encoder.integerReferences.append(rowids)
        encoder.integerClasses.append(nil)
        let counts = try parser.columnCounts()
        let least = counts.min() ?? 0
        let most = counts.max() ?? 0
        encoder.encode(counts, into: &columnar)
        for column in 0..<most {
            let values = try parser.nextColumn()
            guard let note else {
                encoder.encode(values, isWhole: column < least, into: &columnar)
                continue
            }
            var areas = SegmentAreas()
            encoder.encode(values, isWhole: column < least, into: &areas)
            note(.value(Int(column)), cost.of(areas))
            columnar.append(areas)
        }
        try parser.checkEnds()

        // Of many rows, columns are nearly always smaller, and it is dear to find out.
        let columnarCost = cost.of(columnar)
        guard records.count <= effort.comparedSize || cost.estimated(records) < columnarCost else { return columnar }
        var lengths = ends
        for index in lengths.indices.dropFirst() { lengths[index] = ends[index] - ends[index - 1] }
        encoder.encode(lengths.map(Int64.init), into: &rowWise)
        rowWise.text += records
        return cost.of(rowWise) < columnarCost ? rowWise : columnar
    }
}
