import ShipCompression
import StoreFormat

/// An index that is made of the entries of the base and of the rows of its table that changed. The changes are collected while the
/// table is written, and merged with the entries after that.
///
/// Source: `Protocol/DELTA.md` section 6.
struct MergedIndex {
    /// The byte after each entry while the changes are sorted.
    private static let (goneMark, newMark): (UInt8, UInt8) = (0, 1)

    /// Its place among the indexes of its table.
    let index: Int
    private let shape: IndexShape
    private let integers: IntegerForm
    private let work: DecodingWork
    private var sorter: EntrySorter
    private var header: [UInt8] = []

    /// - Parameter runSize: See `EntrySorter`.
    init(
        _ index: Int, _ shape: IndexShape, _ integers: IntegerForm, runSize: Int, _ work: DecodingWork,
        spill: @escaping () throws -> any SpillFile
    ) {
        self.index = index
        self.shape = shape
        self.integers = integers
        self.work = work
        sorter = EntrySorter(shape, runSize: runSize, spill: spill)
    }

    /// Notes that a row of the base becomes another; `nil` stands for no row.
    ///
    /// - Throws: `.damaged` for a row without the values of the index.
    mutating func change(from old: DeltaRow?, to new: DeltaRow?) throws {
        let gone = try old.map { try entry(of: $0) }
        let added = try new.map { try entry(of: $0) }
        guard gone != added else { return }
        if let gone {
            _ = try sorter.add {
                $0 += gone + [Self.goneMark]; return true
            }
        }
        if let added {
            _ = try sorter.add {
                $0 += added + [Self.newMark]; return true
            }
        }
    }

    private mutating func entry(of row: DeltaRow) throws -> [UInt8] {
        var columns = RecordColumns()
        var entry: [UInt8] = []
        guard !row.isLong, columns.read(row.record.span),
            shape.appendEntry(of: row.record.span, columns, rowid: row.rowid, integers, header: &header, to: &entry)
        else { throw CompressionError.damaged(.rows) }
        try work.spend(DecodingWork.row + entry.count)
        return entry
    }

    /// Writes the index.
    ///
    /// - Parameter base: The entries of the base.
    /// - Throws: `.damaged(.base)` if the base lacks an entry that is to be removed.
    mutating func write(_ base: DeltaRows, to tree: inout TreeWriter) throws {
        let work = work
        var base = base
        let order = IndexOrder(shape)
        var row = DeltaRow()
        func advance() throws -> Bool {
            guard try base.next(&row) else { return false }
            try work.spend(DecodingWork.row + row.size / 4)
            guard !row.isLong else { throw CompressionError.damaged(.base) }
            return true
        }
        var isLeft = try advance()
        func put(_ entry: Span<UInt8>) throws {
            work.pay(bytes: entry.count)
            try tree.append(entry)
        }
        try sorter.drain { change in
            let entry = change.extracting(0..<(change.count - 1))
            var result = 1
            while isLeft {
                let record = row.record
                result = order.compare(entry, record.span)
                guard result > 0 else { break }
                try put(record.span)
                isLeft = try advance()
            }
            if change[change.count - 1] == Self.newMark {
                try put(entry)
            } else {
                guard isLeft, result == 0 else { throw CompressionError.damaged(.base) }
                isLeft = try advance()
            }
        }
        while isLeft {
            let record = row.record
            try put(record.span)
            isLeft = try advance()
        }
    }
}
