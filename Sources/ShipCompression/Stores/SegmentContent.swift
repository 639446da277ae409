import StoreFormat

/// What goes into one segment, in order.
package struct SegmentContent: Sendable {
    /// Bytes of rows and chunks from which on a segment is full.
    static let size = 1024 * 1024
    /// The same of the first segment where a link has nothing to do before it is there. Each is twice as large as the one before.
    static let firstSize = 128 * 1024

    enum Element: Sendable {
        case number(UInt64)
        case rows(RowGroup)
        case chunk([UInt8])
    }

    var elements: [Element] = []
    /// Bytes of rows and chunks.
    private(set) var size = 0
    /// Bytes of the store's pages that were read for it.
    package internal(set) var storeBytes: Int64 = 0
    /// The table that it begins with.
    package internal(set) var table = "sqlite_schema"
    /// Whether it is the last of its stream.
    package internal(set) var isLast = false
    let integers: IntegerForm
    /// Bytes of rows and chunks from which on it is full.
    let capacity: Int

    /// Whether it is one of the first, up to the first of full size: the link has little to do before the next is there.
    private let isEarly: Bool

    init(_ integers: IntegerForm, capacity: Int = size) {
        self.init(integers, capacity, isEarly: capacity < Self.size)
    }

    private init(_ integers: IntegerForm, _ capacity: Int, isEarly: Bool) {
        self.integers = integers
        self.capacity = capacity
        self.isEarly = isEarly
    }

    var isFull: Bool { size >= capacity }

    /// An empty one to go on with.
    var next: SegmentContent {
        var next = SegmentContent(integers, min(Self.size, capacity * 2), isEarly: capacity < Self.size)
        next.table = table
        return next
    }

    mutating func add(_ tag: ItemTag) { elements.append(.number(tag.rawValue)) }

    mutating func add(_ number: UInt64) { elements.append(.number(number)) }

    mutating func add(_ rows: RowGroup) {
        add(.rows)
        elements.append(.rows(rows))
        size += rows.records.count
    }

    mutating func add(chunk: [UInt8]) {
        add(.chunk)
        elements.append(.chunk(chunk))
        size += chunk.count
    }

    /// The segment, as a frame carries it.
    ///
    /// The effort that suits it: while a link has nothing to do, time counts for more than the last bytes.
    func effort(_ level: CompressionLevel) -> SegmentEffort {
        SegmentEffort(isEarly && level.value > CompressionLevel.standard.value ? .standard : level)
    }

    /// - Throws: `CompressionError`.
    package func encoded(_ effort: SegmentEffort) throws -> [UInt8] {
        var writer = try SegmentWriter(effort: effort)
        for element in elements {
            switch element {
            case .number(let number): writer.number(number)
            case .rows(let rows): try writer.rows(rows, integers: integers)
            case .chunk(let bytes): try writer.bytes(bytes)
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
