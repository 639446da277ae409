import StoreFormat

/// What goes into one segment, in order.
package struct SegmentContent: Sendable {
    /// Bytes of rows and chunks from which on a segment is full: the first, and each twice as large as the one before, up to
    /// the largest.
    package struct Capacities: Hashable, Sendable {
        let first: Int
        let largest: Int

        /// All the same.
        static let usual = Capacities(first: 1 << 20, largest: 1 << 20)
        /// Where somebody waits, and the link may be a fast one: it has nothing to do before the first is there, and what was
        /// sent until its pace shows may be taken back.
        static let onTrial = Capacities(first: 1 << 17, largest: 1 << 20)
        /// Where somebody waits behind a slow link: it is busy with one for longer than the next takes, and what a segment
        /// knows of the rows before is worth more than time.
        static let onSlowLink = Capacities(first: 1 << 19, largest: 1 << 21)

        /// No segment has more.
        static let mostOfAll = onSlowLink.largest
    }

    enum Element: Sendable {
        case number(UInt64)
        case rows(RowGroup)
        case chunk([UInt8])
    }

    /// Of a table and its indexes, the one that rows are of.
    enum Tree: Hashable, Sendable { case table, index }

    var elements: [Element] = []
    /// Which of them are rows of indexes.
    private var placesOfIndexes: Set<Int> = []
    /// Bytes of rows and chunks.
    private(set) var size = 0
    /// Bytes of the store's pages that were read for it.
    package internal(set) var storeBytes: Int64 = 0
    /// The table that it begins with.
    package internal(set) var table = "sqlite_schema"
    /// What is being added.
    var tree = Tree.table
    /// Whether it is the last of its stream.
    package internal(set) var isLast = false
    let integers: IntegerForm
    /// Bytes of rows and chunks from which on it is full.
    let capacity: Int

    init(_ integers: IntegerForm, capacity: Int = Capacities.usual.first) {
        self.integers = integers
        self.capacity = capacity
    }

    var isFull: Bool { size >= capacity }

    /// An empty one to go on with.
    func next(capacity: Int) -> SegmentContent {
        var next = SegmentContent(integers, capacity: capacity)
        next.table = table
        next.tree = tree
        return next
    }

    mutating func add(_ tag: ItemTag) { elements.append(.number(tag.rawValue)) }

    mutating func add(_ number: UInt64) { elements.append(.number(number)) }

    mutating func add(_ rows: RowGroup) {
        add(.rows)
        append(.rows(rows))
        size += rows.records.count
    }

    mutating func add(chunk: [UInt8]) {
        add(.chunk)
        append(.chunk(chunk))
        size += chunk.count
    }

    private mutating func append(_ rows: Element) {
        if tree == .index { placesOfIndexes.insert(elements.count) }
        elements.append(rows)
    }

    /// The effort that suits it: while the link has nothing to do, time counts for more than the last bytes.
    func effort(_ level: CompressionLevel, _ prospect: EffortDial.Prospect) -> SegmentEffort {
        guard prospect == .lasting else { return .trial }
        let isEarly = capacity < Capacities.usual.largest
        return SegmentEffort(isEarly && level.value > CompressionLevel.standard.value ? .standard : level)
    }

    /// The segment, as a frame carries it.
    ///
    /// - Parameter note: Is told what each part of its tables takes.
    /// - Throws: `CompressionError`, `CancellationError`.
    package consuming func encoded(_ effort: SegmentEffort, noting note: PartNote? = nil) throws -> [UInt8] {
        let noteIndex: PartNote? = note.map { note in { note(.indexes, $1) } }
        let count = elements.count
        var writer = try SegmentWriter(effort: effort)
        // What has been written need not be kept.
        elements.reverse()
        while let element = elements.popLast() {
            try Task.checkCancellation()
            let note = placesOfIndexes.contains(count - elements.count - 1) ? noteIndex : note
            switch element {
            case .number(let number): writer.number(number)
            case .rows(let rows): try writer.rows(rows, integers: integers, noting: note)
            case .chunk(let bytes): try writer.bytes(bytes, noting: note)
            }
        }
        return try writer.finish()
    }
}

/// What an item is.
///
/// Source: `Protocol/COLUMNS.md` section 1.1.
enum ItemTag: UInt64, Hashable, Sendable {
    case settings = 0
    case rows = 1
    case longRow = 2
    case chunk = 3
    case table = 4
    case entries = 5
    case derived = 6
    case end = 7
}
