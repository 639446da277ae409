import StoreFormat

/// Writes the delta of a store over one that only the consumer has: the rows that both have stay, and all others go whole.
struct SharedRowsWalk {
    private let shared: SharedRows
    private let new: DeltaStore
    private let shapes: [String: IndexShape]
    /// Trees that are the same as in the base, and for which nothing is written yet.
    private var same = 0

    init(_ shared: SharedRows, _ new: DeltaStore, _ shapes: [String: IndexShape]) {
        self.shared = shared
        self.new = new
        self.shapes = shapes
    }

    mutating func run(_ output: inout DeltaOutput) throws {
        guard shared.trees.count == new.trees.count else { throw EncodingFailure.unsuitable }
        output.write(new, over: shared.settings, trees: shared.treeCount)
        try write(0, &output)
        for table in new.tables {
            try write(table.place, &output)
            var derived = 0
            for index in table.indexes { try write(index, of: table.place, &derived, &output) }
        }
    }

    /// - Parameter derived: How many indexes of the table follow from it.
    private mutating func write(_ index: Int, of table: Int, _ derived: inout Int, _ output: inout DeltaOutput) throws {
        if shared.trees[index]?.isSame != true, derived < IndexShape.mostOfTable,
            let shape = new.shape(of: index, among: shapes), try new.follows(index, shape, from: table)
        {
            derived += 1
            flushSame(&output)
            try output.write(derived: shape)
        } else {
            try write(index, &output)
        }
    }

    private mutating func write(_ tree: Int, _ output: inout DeltaOutput) throws {
        let found = shared.trees[tree]
        if let found, found.isSame {
            same += 1
            return
        }
        flushSame(&output)
        let rows = try new.rows(of: tree)
        var encoder = TreeEncoder(
            TreeComparison(overUnknown: found?.baseCount ?? 0),
            TreeHead(found.map { TreeSource(place: $0.base, isNamed: $0.isNamed) }, rows.kind), baseTree: nil,
            source: nil,
            result: rows, new.settings)
        try encoder.write(SharedRowSteps(found?.parts, try new.rows(of: tree)), to: &output)
    }

    private mutating func flushSame(_ output: inout DeltaOutput) {
        output.write(same: same)
        same = 0
    }
}

/// The rows of a tree, of which some are known to be in its base.
private struct SharedRowSteps: RowSteps {
    private var rows: DeltaRows
    private var parts: ArraySlice<SharedRows.Part>
    /// Rows that are still to come of the part at hand, which the base has not.
    private var left = 0
    /// The place in the base after the last part.
    private var end = 0

    private(set) var common = (count: 0, firstRowid: Int64(0), lastRowid: Int64(0))
    private(set) var commonPlaces = (old: 0, new: 0)
    let old = DeltaRow()
    private(set) var new = DeltaRow()

    /// - Parameter parts: `nil` for a tree without a base.
    init(_ parts: [SharedRows.Part]?, _ rows: DeltaRows) {
        self.rows = rows
        self.parts = (parts ?? [.other(old: 0, new: .max)])[...]
    }

    mutating func next() throws -> RowStep? {
        while left == 0 {
            guard let part = parts.popFirst() else { return nil }
            switch part {
            case .other(let count, let own):
                left = own
                end += count
            case .same(let count):
                commonPlaces = (end, rows.position)
                let last = rows.position + count - 1
                guard try rows.next(&new) else { throw EncodingFailure.unsuitable }
                let first = new.rowid
                if count > 1 {
                    guard try rows.move(to: last), try rows.next(&new) else { throw EncodingFailure.unsuitable }
                }
                common = (count, first, new.rowid)
                end += count
                return .sameLeaf
            }
        }
        left -= 1
        guard try rows.next(&new) else {
            guard parts.isEmpty, left > 0 else { throw EncodingFailure.unsuitable }
            return nil
        }
        return .new
    }
}
