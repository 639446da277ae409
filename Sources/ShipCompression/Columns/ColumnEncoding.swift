extension ColumnEncoder {
    /// Writes a column, and keeps what later ones may refer to.
    ///
    /// - Parameter isWhole: Whether each row of the group has the column.
    mutating func encode(_ column: ColumnValues, isWhole: Bool, into areas: inout SegmentAreas) {
        let kinds = column.kindMask
        let isUniform = kinds.nonzeroBitCount == 1
        var classes: CellClasses?
        if isWhole, column.count >= SegmentLimits.smallColumn, kinds != 1 {
            classes = CellClasses(column, ordinals: column.ordinals())
        }
        let known = write(column, classes, isWhole: isWhole, into: &areas)
        integerReferences.append(isWhole && kinds == 1 << ValueKind.integer ? column.integers : nil)
        integerClasses.append(kinds == 1 << ValueKind.integer ? classes : nil)
        textReferences.append(isWhole && kinds == 1 << ValueKind.text ? column.texts : nil)
        kindReferences.append(isWhole && !isUniform ? column.kinds : nil)
        classReferences.append(known)
    }

    private enum Form {
        case plain
        case dictionary
        case determined(Int)
        case predicted(Int)
        case copy(Int)
    }

    /// - Returns: The classes of the rows that the decoder knows from it.
    private func write(
        _ column: ColumnValues, _ classes: CellClasses?, isWhole: Bool, into areas: inout SegmentAreas
    ) -> CellClasses? {
        guard let classes, classes.count > 1 else {
            writePlain(column, refers: isWhole, into: &areas)
            return nil
        }
        let ordinals = column.ordinals()
        let values = column.selecting(classes.firstRows, ordinals: ordinals)
        var determining: (column: Int, count: Int)?
        for (index, other) in classReferences.withinReach {
            guard let other, other.count <= (determining?.count ?? column.count), classes.followFrom(other) else {
                continue
            }
            if other.count == classes.count, isSame(column, classes, as: index) {
                writeForm(.copy(index), column, classes, values, into: &areas)
                return other
            }
            if other.count < determining?.count ?? Int.max { determining = (index, other.count) }
        }
        var forms: [Form] = repeatsText(column, classes) ? [.dictionary] : [.plain, .dictionary]
        if let determining { forms.append(.determined(determining.column)) }
        if let best = bestPredictor(of: classes) { forms.append(.predicted(best)) }
        var best: (form: Form, cost: Int, areas: SegmentAreas)?
        for form in forms {
            var trial = SegmentAreas()
            writeForm(form, column, classes, values, into: &trial)
            var cost = cost.of(trial)
            if case .plain = form { cost = Self.shared(cost) }
            if cost < best?.cost ?? Int.max { best = (form, cost, trial) }
        }
        guard let best else { return nil }
        areas.append(best.areas)
        return switch best.form {
        case .plain: nil
        case .dictionary, .predicted: classes
        case .determined(let reference), .copy(let reference): classReferences[reference]
        }
    }

    /// Whether so much text repeats that its dictionary takes less without a trial: for deflate each repeat is a match, of two
    /// bytes at least, if it sees so far back.
    private func repeatsText(_ column: ColumnValues, _ classes: CellClasses) -> Bool {
        guard column.texts.count + column.blobs.count == column.count,
            column.texts.totalLength + column.blobs.totalLength > 8 * column.count
        else { return false }
        var ids = SegmentAreas()
        encode(classes.ids.map(Int64.init), depth: 1, into: &ids)
        return cost.of(ids) < 2 * (column.count - classes.count)
    }

    private func isSame(_ column: ColumnValues, _ classes: CellClasses, as index: Int) -> Bool {
        if column.kindMask == 1 << ValueKind.integer, let integers = integerReferences[index + 1] {
            return integers == column.integers
        }
        guard column.kindMask == 1 << ValueKind.text, let texts = textReferences[index] else { return false }
        return classes.firstRows.allSatisfy { texts[Int($0)] == column.texts[Int($0)] }
    }

    /// The column whose classes most often tell what comes.
    private func bestPredictor(of classes: CellClasses) -> Int? {
        var best: (index: Int, hits: Int)?
        let ids = classes.ids.sampled(effort.sampleCount)
        let sample = CellClasses(ids: ids, firstRows: classes.firstRows)
        for (index, other) in classReferences.withinReach {
            guard let other, other.count < classes.ids.count / 2 else { continue }
            let codes = sample.codes(predictedBy: other.ids.sampled(effort.sampleCount), count: other.count)
            let hits = codes.reduce(0) { $0 + ($1 == 0 ? 1 : 0) }
            if hits > best?.hits ?? (ids.count / 3) { best = (index, hits) }
        }
        return best?.index
    }

    private func writeForm(
        _ form: Form, _ column: ColumnValues, _ classes: CellClasses, _ values: ColumnValues,
        into areas: inout SegmentAreas
    ) {
        switch form {
        case .plain: writePlain(column, refers: true, into: &areas)
        case .dictionary:
            areas.tag(ColumnTag.dictionary.rawValue)
            areas.count(classes.count)
            writePlain(values, refers: false, into: &areas)
            encode(classes.ids.map(Int64.init), depth: 1, into: &areas)
        case .determined(let reference):
            guard let other = classReferences[reference] else { return }
            areas.tag(ColumnTag.determined.rawValue)
            areas.count(reference)
            writePlain(
                column.selecting(other.firstRows, ordinals: column.ordinals()), refers: false, into: &areas)
        case .predicted(let reference):
            guard let other = classReferences[reference] else { return }
            areas.tag(ColumnTag.predicted.rawValue)
            areas.count(reference)
            areas.count(classes.count)
            writePlain(values, refers: false, into: &areas)
            encode(classes.codes(predictedBy: other.ids, count: other.count), depth: 1, into: &areas)
        case .copy(let reference):
            areas.tag(ColumnTag.copy.rawValue)
            areas.count(reference)
        }
    }

    /// Kinds, then the values of each kind.
    private func writePlain(_ column: ColumnValues, refers: Bool, into areas: inout SegmentAreas) {
        var column = column
        var kinds = column.kindMask
        if kinds & 0b110 == 0b110, column.areIntegersReals {
            column.turnIntegersToReals()
            kinds = column.kindMask | ValueKind.wholeReals
        }
        let isMixed = (kinds & ValueKind.mask).nonzeroBitCount > 1
        let earlier = refers && isMixed ? kindReferences.withinReach.first { $0.element == column.kinds }?.index : nil
        areas.tag(kinds | (earlier == nil ? 0 : ValueKind.kindsOfEarlier))
        if let earlier {
            areas.count(earlier)
        } else if isMixed {
            encode(column.kinds.map(Int64.init), depth: 1, into: &areas)
        }
        let refersToValues = refers && !isMixed
        encode(column.integers, refers: refersToValues && kinds == 1 << ValueKind.integer, into: &areas)
        encode(reals: column.reals, into: &areas)
        encode(column.texts, refers: refersToValues, into: &areas)
        encode(column.blobs, refers: refersToValues, into: &areas)
    }
}

extension ColumnValues {
    /// SQLite stores a whole number in a REAL column as an integer if that takes less room than 8 bytes.
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
            case ValueKind.integer:
                merged.append(Double(integers[integer]).bitPattern)
                integer += 1
                kinds[row] = ValueKind.real
            case ValueKind.real:
                merged.append(reals[real])
                real += 1
            default: break
            }
        }
        integers = []
        reals = merged
    }
}
