import StoreFormat

/// Source: `Protocol/DELTA.md` sections 4 and 7.
extension TreeMaker {
    // MARK: Parts

    func takePart(_ source: inout SegmentSource, _ room: inout SegmentRoom) throws {
        if open == nil { try begin(try TreeHead(from: &source)) }
        guard var tree = open.take() else { return }
        var plan = try TreePart.Plan(from: &source, rowsLeft: &room.rows, contentLeft: &room.content)
        try checkLiterals(plan)
        var literal = 0
        var row = DeltaRow()
        for event in plan.events {
            try copy(event.copies, &tree)
            try jump(event, &tree)
            switch event.kind {
            case .skip: break
            case .edit:
                for _ in 0..<event.count { try edit(&plan.edits, &tree) }
            case .literal:
                for _ in 0..<event.count {
                    let start = literal == 0 ? 0 : plan.literals.ends[literal - 1]
                    row.record = Array(plan.literals.records[start..<plan.literals.ends[literal]])
                    row.size = row.record.count
                    literal += 1
                    row.rowid = plan.literals.rowids?[literal - 1] ?? nextRowid(&tree)
                    try change(from: nil, to: row, tree.isIndexed)
                    try put(row, &tree)
                }
            case .long: try beginLong(&source, &tree)
            }
        }
        if plan.isLast {
            if plan.copiesRest { try copy(.max, &tree) } else { try passRest(&tree) }
            try end(tree)
        } else {
            open = consume tree
        }
    }

    /// Records that were made of columns are canonical, in the one encoding or in the other; others may be anything.
    private func checkLiterals(_ plan: TreePart.Plan) throws {
        let records = plan.literals.records.span
        var start = 0
        for end in plan.literals.ends {
            guard end >= start, end <= records.count, end - start <= CanonicalForm.longestHeldRecord,
                plan.madeForm == settings.integers
                    || CanonicalRecord.judge(records.extracting(start..<end), settings.integers) == .canonical
            else { throw CompressionError.damaged(.rows) }
            start = end
        }
    }

    /// Rows of the base that stay.
    ///
    /// - Parameter count: `.max` for all that are left.
    func copy(_ count: Int, _ tree: inout OpenTree) throws {
        guard count > 0 else { return }
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        var row = DeltaRow()
        var left = count
        while left > 0 {
            guard try rows.next(&row) else {
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
            guard !rows.isConverting, next > 0 else { throw CompressionError.damaged(.rows) }
            tree.lastRowid = row.rowid
            try tree.tree.beginRecord(size: row.size, rowid: tree.kind == .table ? row.rowid : 0)
            try rows.forEachPiece { try tree.tree.extendRecord($0) }
            try tree.tree.endRecord()
        }
        tree.base = rows
    }

    private func jump(_ event: TreeEvent, _ tree: inout OpenTree) throws {
        if tree.head.countsRowids || event.kind == .literal || event.kind == .long {
            tree.pending &+= event.shift
        } else {
            tree.shift &+= event.shift
        }
        guard event.jump != 0 else { return }
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        let place = rows.position + event.jump
        guard place >= 0, place <= base.mostRows else { throw CompressionError.damaged(.base) }
        if !tree.isIndexed {
            guard try rows.move(to: place) else { throw CompressionError.damaged(.base) }
        } else {
            // Entries of a row that is passed over go; a row that is passed over must not come back.
            guard event.jump > 0 else { throw CompressionError.damaged(.rows) }
            var row = DeltaRow()
            while rows.position < place {
                guard try rows.next(&row) else { throw CompressionError.damaged(.base) }
                try change(from: row, to: nil, true)
            }
        }
        tree.base = rows
    }

    /// What no part said of rows of the base that are left: they go.
    private func passRest(_ tree: inout OpenTree) throws {
        guard tree.isIndexed, var rows = tree.base.take() else { return }
        var row = DeltaRow()
        while try rows.next(&row) { try change(from: row, to: nil, true) }
    }

    private func edit(_ edits: inout RowEdits, _ tree: inout OpenTree) throws {
        guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
        var old = DeltaRow()
        guard try rows.next(&old), !old.isLong, let values = DeltaValue.values(of: old.record) else {
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

    /// Notes for the indexes that are merged that a row of the base becomes another.
    private func change(from old: DeltaRow?, to new: DeltaRow?, _ isIndexed: Bool) throws {
        guard isIndexed else { return }
        for index in merged.indices { try merged[index].change(from: old, to: new) }
    }

    // MARK: Rows

    /// The rowid of a row of which the base has another.
    private func rebased(_ rowid: Int64, _ tree: inout OpenTree) -> Int64 {
        tree.head.countsRowids ? nextRowid(&tree) : rowid &+ tree.shift
    }

    private func nextRowid(_ tree: inout OpenTree) -> Int64 {
        defer { tree.pending = 0 }
        return tree.lastRowid &+ 1 &+ tree.pending
    }

    private func put(_ row: DeltaRow, _ tree: inout OpenTree) throws {
        tree.lastRowid = row.rowid
        guard next == 0 else {
            let record = row.record
            return try tree.tree.append(record.span, rowid: tree.kind == .table ? row.rowid : 0)
        }
        let record = try schemaRows.rooted(row.record, writer.roots, settings.integers)
        try schema?.add(record.span)
        try tree.tree.append(record.span, rowid: row.rowid)
    }

    // MARK: Long rows

    private func beginLong(_ source: inout SegmentSource, _ tree: inout OpenTree) throws {
        let size = try source.control.count(limit: Int(Int32.max))
        let hasSource = try source.control.count(limit: 1) == 1
        guard next > 0, size > CanonicalForm.longestHeldRecord, !tree.isIndexed else {
            throw CompressionError.damaged(.rows)
        }
        var bytes: any ByteSource = NoBytes()
        if hasSource {
            guard var rows = tree.base.take() else { throw CompressionError.damaged(.base) }
            var row = DeltaRow()
            guard try rows.next(&row), let places = try rows.places() else { throw CompressionError.damaged(.base) }
            bytes = RecordBytes(places)
            tree.base = rows
            let rowid = rebased(row.rowid, &tree) &+ tree.pending
            (tree.lastRowid, tree.pending) = (rowid, 0)
        } else {
            tree.lastRowid = nextRowid(&tree)
        }
        try tree.tree.beginRecord(size: size, rowid: tree.kind == .table ? tree.lastRowid : 0)
        long = LongRowMaker(source: bytes, left: Int64(size))
    }

    func takePiece(_ source: inout SegmentSource, _ room: inout SegmentRoom) throws {
        guard var row = long, var tree = open.take() else { throw CompressionError.damaged(.rows) }
        let integers = settings.integers
        var (left, end, check) = (row.left, row.end, row.check)
        try BytePiece.read(
            from: &source, copying: row.source, left: &left, after: &end, contentLeft: &room.content
        ) { bytes in
            guard check.take(bytes, integers) else { throw CompressionError.damaged(.rows) }
            try tree.tree.extendRecord(bytes)
        }
        (row.left, row.end, row.check) = (left, end, check)
        long = row
        if left == 0 {
            guard check.isCanonical else { throw CompressionError.damaged(.rows) }
            try tree.tree.endRecord()
            long = nil
        }
        open = consume tree
    }
}

/// Gives the rows of `sqlite_schema` the root pages of the result, one after the other.
struct SchemaRows {
    private var named = 0

    /// - Parameter roots: Of all trees.
    mutating func rooted(_ record: [UInt8], _ roots: [UInt32], _ integers: IntegerForm) throws -> [UInt8] {
        guard let row = SchemaRow(record.span) else { throw CompressionError.damaged(.rows) }
        if row.root != 0 { named += 1 }
        guard named < roots.count else { throw CompressionError.damaged(.rows) }
        return row.encoded(from: record.span, root: roots[named], integers)
    }
}
