import ShipCompression
import StoreFormat

/// The table that holds the leaves of a full-text index (FTS5), for an encoder: which of its rows follow from the content.
///
/// Source: `Protocol/COLUMNS.md` section 1.4. Memory: the postings of one index as they are sorted, and those of a leaf.
final class FullTextSource {
    /// Where a store is read, and what sorts postings.
    struct Store {
        let pages: any PageSource
        let geometry: PageGeometry
        let makeSpillFile: () throws -> any SpillFile
        let budget: Budget
    }

    /// The work that sorting the postings of a store may take, over all its indexes. A receiver would refuse more.
    final class Budget {
        /// Units that may still go into postings from which no leaf follows: those of the same rows would be sorted for each of the indexes that
        /// share these rows.
        private var inVain: Int
        fileprivate let work = DecodingWork()

        /// - Parameter bytes: Of the store.
        init(bytes: Int) {
            work.pay(bytes: bytes)
            inVain = work.left / 8
        }

        fileprivate var isLeft: Bool { inVain > 0 }

        fileprivate func waste(_ units: Int) { inVain -= units }
    }

    /// Postings that are looked through for those with which a leaf begins, and their bytes.
    fileprivate static let mostPassed = 65_536
    fileprivate static let mostPassedBytes = 4 * 1_048_576
    /// Postings that are looked through in vain in one index. An index of other texts than those that the table has would have it all over
    /// again for each leaf.
    private static let mostInVain = 1 << 20
    /// Leaves of an item.
    private static let mostLeaves = 4096

    private let store: Store
    private let contentRoot: UInt32
    private var shape: FullTextShape
    /// Those of the indexes of which all leaves can be read, by their numbers.
    private var rowids: [Int64: ClosedRange<Int64>] = [:]
    /// The pages of its tree beside the root.
    private(set) var pages = KeptPages(after: 0, upTo: 0)
    private(set) var pageCount = 0

    /// The place of the table that has the texts.
    var content: Int { shape.content }

    private var current: Current?
    /// The item that is not sent yet, up to the sizes of its leaves, and these.
    private var item: (numbers: [UInt64], sizes: [UInt64], next: Int64)?

    fileprivate struct Current {
        let number: Int64
        var shape: FullTextShape
        var stored = FullTextPages()
        /// `nil` if nothing follows.
        var leaves: FullTextLeaves?
        var isSent = false
        /// Units that sorting them took.
        var work = 0
        /// Postings passed since the last leaf that follows.
        var passed = 0
        /// Postings that were looked through and are not those with which a leaf begins.
        var inVain = 0
    }

    /// - Parameters:
    ///   - root: Of the table that has the leaves.
    ///   - numbers: Of the indexes whose leaves are looked at; `nil` for all.
    /// - Returns: `nil` if no leaf can follow from the content.
    init?(
        _ table: FullTextTable, places: [Int?], root: UInt32, content: SchemaTrees.Tree, of numbers: Set<Int64>?,
        in store: Store
    ) throws {
        guard try TreeReader.kind(of: content.root, in: store.pages, store.geometry) == .table,
            table.prefixes.count <= FullTextShape.mostPrefixes, table.prefixes.allSatisfy({ $0 > 0 })
        else { return nil }
        self.store = store
        contentRoot = content.root
        shape = FullTextShape(content: content.index, rowids: 0...0, columns: places, prefixes: table.prefixes)
        try readLeaves(root: root, of: numbers)
        let named = places.compactMap { $0 }
        guard !rowids.isEmpty, pageCount > 0, Set(named).count == named.count else { return nil }
        shape.characters = table.folds(of: try characters())
    }

    /// The characters above 127 of the texts that the indexes are of.
    private func characters() throws -> Set<UInt32> {
        var codes: Set<UInt32> = []
        var reader = try TreeReader(store.pages, store.geometry, root: contentRoot, kind: .table)
        var row = IndexedRow()
        let (first, last) = (rowids.values.map(\.lowerBound).min() ?? 0, rowids.values.map(\.upperBound).max() ?? 0)
        while let cell = try reader.next(), cell.rowid <= last {
            guard cell.rowid >= first, cell.payloadSize <= CanonicalForm.longestHeldRecord,
                try row.read(cell, from: reader)
            else { continue }
            let record = row.record
            for place in shape.columns.compactMap({ $0 }) where place < row.columns.count {
                guard SerialType.isText(row.columns.types[place]) else { continue }
                let text = record.span.extracting(row.columns.starts[place]..<row.columns.starts[place + 1])
                var next = 0
                while next < text.count {
                    guard text[next] > 127, let (code, length) = CharacterFolds.character(at: next, of: text) else {
                        next += 1
                        continue
                    }
                    codes.insert(code)
                    next += length
                }
            }
        }
        return codes
    }

    /// Finds which rows each index is of, and the pages of the tree.
    private func readLeaves(root: UInt32, of numbers: Set<Int64>?) throws {
        let pages = NotedPages(store.pages)
        var reader = try TreeReader(pages, store.geometry, root: root, kind: .table)
        var row = IndexedRow()
        var indexes: [Int64: FullTextPages?] = [:]
        while let cell = try reader.next() {
            guard cell.payloadSize <= CanonicalForm.longestHeldRecord else {
                try reader.forEachPiece(of: cell) { _ in }
                continue
            }
            guard try row.read(cell, from: reader) else { continue }
            guard let number = FullTextPages.index(of: cell.rowid), numbers?.contains(number) != false,
                var index = indexes[number] ?? FullTextPages()
            else { continue }
            let record = row.record
            let isSound = Self.leaf(row.columns).map { index.take(record.span.extracting($0)) != nil } ?? false
            indexes[number] = .some(isSound ? index : nil)
        }
        for (number, index) in indexes { rowids[number] = index?.rowids }
        pageCount = pages.count - 1
        self.pages = KeptPages(after: pages.least - 1, upTo: pages.highest)
    }

    /// Where a record has a leaf.
    private static func leaf(_ columns: RecordColumns) -> Range<Int>? {
        guard columns.count == 2, columns.types[0] == SerialType.null, columns.types[1] >= 12, columns.types[1] % 2 == 0
        else { return nil }
        return columns.starts[1]..<columns.starts[2]
    }

    // MARK: Rows

    /// Takes the next row of the table.
    ///
    /// - Returns: Whether it follows; and the item that has to be sent before what comes next.
    func take(rowid: Int64, _ record: Span<UInt8>) throws -> (follows: Bool, item: [UInt64]?) {
        var columns = RecordColumns()
        guard let number = FullTextPages.index(of: rowid), let rowids = rowids[number], columns.read(record),
            let range = Self.leaf(columns), let size = FullTextPages.size(of: record.extracting(range))
        else { return (false, end()) }
        let leaf = record.extracting(range)
        var ended: [UInt64]?
        if current?.number != number {
            ended = end()
            if let current, !current.isSent { store.budget.waste(current.work) }
            current = try begin(number, rowids)
        }
        guard var current, let stored = current.stored.take(leaf) else { return (false, ended ?? end()) }
        defer { self.current = current }
        let expected = leaf.withUnsafeBufferPointer(Array.init)
        if let item, item.next != rowid || item.sizes.count == Self.mostLeaves { ended = end() }
        var made = try current.leaves?.leaf(size)
        if made?.bytes != expected, current.inVain < Self.mostInVain,
            let place = try stored.beginning.flatMap({ try current.place(of: $0) }),
            try current.leaves?.pass(place) == true
        {
            ended = ended ?? end()
            current.passed += place.postings
            made = try current.leaves?.leaf(size)
        }
        guard let made, made.bytes == expected else { return (false, ended ?? end()) }
        if item == nil {
            let head = current.isSent ? [0] : [1] + current.shape.numbers
            let part = UInt64(current.leaves?.part ?? 0)
            item = (head + [rowid.zigzag, UInt64(current.passed), part], [], rowid)
            (current.isSent, current.passed) = (true, 0)
        }
        _ = try current.leaves?.pass(made.end)
        item?.sizes.append(UInt64(size))
        item?.next += 1
        return (true, ended)
    }

    /// The item that has not been sent.
    func end() -> [UInt64]? {
        defer { item = nil }
        return item.map { $0.numbers + [UInt64($0.sizes.count)] + $0.sizes }
    }

    private func begin(_ number: Int64, _ rowids: ClosedRange<Int64>) throws -> Current {
        var shape = shape
        shape.rowids = rowids
        var current = Current(number: number, shape: shape)
        let work = store.budget.work
        guard store.budget.isLeft else { return current }
        let before = work.spent
        do {
            let postings = try shape.postings(
                in: store.pages, store.geometry, root: contentRoot, work, spill: store.makeSpillFile)
            current.leaves = FullTextLeaves(postings)
        } catch is CompressionError {
            // A posting is too long, or nothing is left to spend.
        }
        current.work = work.spent - before
        return current
    }
}

extension FullTextSource.Current {
    /// Where the postings are with which a leaf begins.
    fileprivate mutating func place(of beginning: FullTextPages.Beginning) throws -> FullTextLeaves.Place? {
        var last: Posting?
        var bytes = 0
        for index in 0..<FullTextSource.mostPassed where bytes < FullTextSource.mostPassedBytes {
            guard let posting = try leaves?.posting(index) else { return nil }
            bytes += posting.term.count + posting.positions.count
            inVain += 1
            let order = posting.term.compare(beginning.term)
            if order > 0 || order == 0 && posting.rowid > beginning.rowid ?? posting.rowid { return nil }
            if order == 0, posting.rowid == beginning.rowid ?? posting.rowid {
                inVain -= index + 1
                guard beginning.rest > 0 else {
                    return FullTextLeaves.Place(postings: index, part: beginning.rowid == nil ? 0 : 1)
                }
                guard let last, last.positions.count >= beginning.rest else { return nil }
                return FullTextLeaves.Place(postings: index - 1, part: 2 + last.positions.count - beginning.rest)
            }
            last = posting
        }
        return nil
    }
}

extension [UInt8] {
    /// Below 0, 0 or above 0, as it comes before the other, is equal to it, or comes after it.
    fileprivate func compare(_ other: [UInt8]) -> Int {
        self == other ? 0 : lexicographicallyPrecedes(other) ? -1 : 1
    }
}

/// Notes which pages are read.
private final class NotedPages: PageSource {
    private let pages: any PageSource
    private(set) var count = 0
    private(set) var highest: UInt32 = 0
    /// Beside the root, which is read first.
    private(set) var least: UInt32 = .max

    init(_ pages: any PageSource) { self.pages = pages }

    var pageCount: UInt32 { pages.pageCount }

    func read(_ number: UInt32, into page: inout [UInt8]) throws {
        if count > 0 { (least, highest) = (min(least, number), max(highest, number)) }
        count += 1
        try pages.read(number, into: &page)
    }
}
