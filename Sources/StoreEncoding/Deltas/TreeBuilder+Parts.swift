import ShipCompression
import StoreFormat

/// Source: `Protocol/DELTA.md` sections 4 and 7.
extension TreeBuilder {
    // MARK: Parts

    func takePart(_ source: inout SegmentReader) throws {
        if open == nil { try begin(try TreeHead(from: &source)) }
        guard var tree = open.take() else { return }
        var part = try TreePart<EditDecoder>(from: &source)
        guard part.literals.areCanonical(settings.integers, madeIn: part.madeForm) else {
            throw CompressionError.damaged(.rows)
        }
        var literal = 0
        var row = DeltaRow()
        for event in part.events {
            try copy(event.copies, &tree)
            try jump(event, &tree)
            switch event.kind {
            case .skip: break
            case .edit:
                for _ in 0..<event.count { try edit(&part.edits, &tree) }
            case .literal:
                for _ in 0..<event.count {
                    let start = literal == 0 ? 0 : part.literals.ends[literal - 1]
                    row.record = Array(part.literals.records[start..<part.literals.ends[literal]])
                    row.size = row.record.count
                    literal += 1
                    row.rowid = part.literals.rowids?[literal - 1] ?? nextRowid(&tree)
                    try change(from: nil, to: row, tree.isIndexed)
                    try put(row, &tree)
                }
            case .long: try beginLong(&source, &tree)
            }
        }
        if part.isLast {
            if part.copiesRest { try copy(.max, &tree) } else { try passRest(&tree) }
            try plan.end(tree.tree)
        } else {
            open = consume tree
        }
    }

    /// Copies so many rows of the base, or all that are left for `.max`.
    func copy(_ count: Int, _ tree: inout OpenTree) throws {
        guard count > 0 else { return }
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        var row = DeltaRow()
        var left = count
        let takesLeaves =
            !plan.isInSchema && !tree.head.countsRowids && tree.shift == 0
            && base.geometry.hasSamePages(as: plan.writer.geometry)
        while left > 0 {
            if takesLeaves, try copyLeaf(of: &rows, &left, &tree) { continue }
            guard try next(&row, of: &rows) else {
                guard count == .max else { throw CompressionError.damaged(.base) }
                break
            }
            left -= 1
            let rowid = row.rowid
            row.rowid = rebased(rowid, &tree)
            if row.rowid != rowid, tree.isIndexed, tree.kind == .table {
                var old = row
                old.rowid = rowid
                try change(from: old, to: row, true)
            }
            guard row.isLong else {
                try put(row, &tree)
                continue
            }
            guard !rows.isConverting, !plan.isInSchema else { throw CompressionError.damaged(.rows) }
            tree.lastRowid = row.rowid
            work.pay(bytes: row.size)
            try tree.tree.beginRecord(size: row.size, rowid: tree.kind == .table ? row.rowid : 0)
            try rows.forEachPiece { try tree.tree.extendRecord($0) }
            try tree.tree.endRecord()
        }
        tree.base = rows
    }

    /// Copies the rows of a leaf at once, under their own rowids.
    ///
    /// - Parameter left: How many rows to copy.
    /// - Returns: Whether there was such a leaf.
    private func copyLeaf(of rows: inout DeltaRows, _ left: inout Int, _ tree: inout OpenTree) throws -> Bool {
        guard work.has(DecodingWork.leaf(pageSize: settings.pageSize)), let leaf = try rows.takeLeaf(upTo: left) else {
            return false
        }
        try work.spend(DecodingWork.row * leaf.count + leaf.sizes.quarters)
        work.pay(bytes: leaf.sizes.sum)
        try tree.tree.append(leaf)
        tree.lastRowid = leaf.rowids.last
        left -= leaf.count
        return true
    }

    private func jump(_ event: TreeEvent, _ tree: inout OpenTree) throws {
        if tree.head.countsRowids || event.kind == .literal || event.kind == .long {
            tree.pending &+= event.shift
        } else {
            tree.shift &+= event.shift
        }
        guard event.jump != 0 else { return }
        try work.spend(DecodingWork.jump(over: event.jump, pageSize: base.geometry.pageSize))
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        let place = rows.position + event.jump
        guard place >= 0, place <= base.mostRows else { throw CompressionError.damaged(.base) }
        if !tree.isIndexed {
            guard try rows.move(to: place) else { throw CompressionError.damaged(.base) }
        } else {
            // The entries of skipped rows are removed. A skipped row cannot be used later.
            guard event.jump > 0 else { throw CompressionError.damaged(.rows) }
            var row = DeltaRow()
            while rows.position < place {
                guard try next(&row, of: &rows) else { throw CompressionError.damaged(.base) }
                try change(from: row, to: nil, true)
            }
        }
        tree.base = rows
    }

    /// Skips the rows of the base that are left: their entries are removed.
    private func passRest(_ tree: inout OpenTree) throws {
        guard tree.isIndexed, var rows = tree.base.take() else { return }
        var row = DeltaRow()
        while try next(&row, of: &rows) { try change(from: row, to: nil, true) }
    }

    private func edit(_ edits: inout EditDecoder, _ tree: inout OpenTree) throws {
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        var old = DeltaRow()
        guard try next(&old, of: &rows), !old.isLong, let values = DeltaValue.values(of: old.record) else {
            throw CompressionError.damaged(.base)
        }
        tree.base = rows
        var new = DeltaRow()
        new.record = DeltaValue.record(of: try edits.apply(to: values), settings.integers)
        new.size = new.record.count
        guard !new.isLong else { throw CompressionError.damaged(.segmentLimit) }
        new.rowid = rebased(old.rowid, &tree)
        try change(from: old, to: new, tree.isIndexed)
        try put(new, &tree)
    }

    /// Tells the merged indexes that a row of the base becomes another.
    private func change(from old: DeltaRow?, to new: DeltaRow?, _ isIndexed: Bool) throws {
        guard isIndexed else { return }
        for index in merged.indices { try merged[index].change(from: old, to: new) }
    }

    // MARK: Rows

    /// The new rowid of a row of the base.
    private func rebased(_ rowid: Int64, _ tree: inout OpenTree) -> Int64 {
        tree.head.countsRowids ? nextRowid(&tree) : rowid &+ tree.shift
    }

    private func nextRowid(_ tree: inout OpenTree) -> Int64 {
        defer { tree.pending = 0 }
        return tree.lastRowid &+ 1 &+ tree.pending
    }

    /// Reads a row of the base.
    private func next(_ row: inout DeltaRow, of rows: inout DeltaRows) throws -> Bool {
        guard try rows.next(&row) else { return false }
        try work.spend(DecodingWork.row + row.size / 4)
        return true
    }

    private func put(_ row: DeltaRow, _ tree: inout OpenTree) throws {
        work.pay(bytes: row.size)
        tree.lastRowid = row.rowid
        guard plan.isInSchema else {
            let record = row.record
            return try tree.tree.append(record.span, rowid: tree.kind == .table ? row.rowid : 0)
        }
        let record = try rooted(row.record)
        try plan.addSchemaRow(record.span)
        try tree.tree.append(record.span, rowid: row.rowid)
    }

    // MARK: Long rows

    private func beginLong(_ source: inout SegmentReader, _ tree: inout OpenTree) throws {
        let size = try source.control.count(limit: Int(Int32.max))
        let hasSource = try source.control.count(limit: 1) == 1
        guard !plan.isInSchema, size > (hasSource ? 0 : CanonicalForm.longestHeldRecord), !tree.isIndexed else {
            throw CompressionError.damaged(.rows)
        }
        var bytes = RecordBytes(nil)
        if hasSource {
            guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
            var row = DeltaRow()
            guard try next(&row, of: &rows), let places = try rows.places() else {
                throw CompressionError.damaged(.base)
            }
            bytes = RecordBytes(places)
            tree.base = rows
            let rowid = rebased(row.rowid, &tree) &+ tree.pending
            (tree.lastRowid, tree.pending) = (rowid, 0)
        } else {
            tree.lastRowid = nextRowid(&tree)
        }
        try tree.tree.beginRecord(size: size, rowid: tree.kind == .table ? tree.lastRowid : 0)
        long = (
            PieceReader(copying: bytes, pageSize: base.geometry.pageSize, size: Int64(size)), RecordCheck()
        )
    }

    func takePieces(_ source: inout SegmentReader) throws {
        guard var (record, check) = long, var tree = open.take() else { throw CompressionError.damaged(.rows) }
        let integers = settings.integers
        try record.read(from: &source) { bytes in
            guard check.take(bytes, integers) else { throw CompressionError.damaged(.rows) }
            try tree.tree.extendRecord(bytes)
        }
        long = (record, check)
        if record.left == 0 {
            guard check.isCanonical else { throw CompressionError.damaged(.rows) }
            try tree.tree.endRecord()
            long = nil
        }
        open = consume tree
    }
}
