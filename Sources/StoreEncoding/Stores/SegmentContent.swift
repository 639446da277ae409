import ShipCompression
package import StoreFormat

/// The content of one segment, in order.
package struct SegmentContent: Sendable {
    /// Bytes of rows and chunks at which a usual segment is full.
    static let usualCapacity = 1 << 20
    // The same of the first segment, and of the largest. Each segment may be twice as large as the one before it, up to the largest.

    /// For a link that is waiting and may be fast: it is idle until the first segment is ready, and segments may be discarded until its
    /// pace is known.
    static let capacitiesOnTrial = (first: 1 << 17, largest: usualCapacity)
    /// For a small store over a fast link that is waiting: all cores encode it, and the other side decodes meanwhile.
    static let capacitiesInHurry = (first: 1 << 18, largest: 1 << 18)
    /// For a slow link that is waiting: sending a segment takes longer than encoding the next, and a larger segment compresses better.
    static let capacitiesOnSlowLink = (first: 1 << 19, largest: 1 << 21)
    /// Where nobody waits: keys and words come again further apart than in a usual segment. Rows at the beginning of a large store are
    /// often unlike the others, and would keep these from encodings that suit them.
    static let capacitiesForFewBytes = (first: usualCapacity, largest: 3 << 19)
    /// Where bytes count for more than time and memory as well.
    static let capacitiesForFewestBytes = (first: usualCapacity, largest: 1 << 21)
    /// For a small store, unless time counts for more: most have one segment.
    static let capacitiesOfSmallStore = (first: 3 << 20, largest: 3 << 20)

    /// Content that takes no more bytes when it is encoded is encoded at lower efforts too; with great thoroughness all is.
    private static let fewBytes = 1 << 16

    enum Element: Sendable {
        case number(UInt64)
        case rows(RowGroup)
        case chunk([UInt8])
    }

    var elements: [Element] = []
    /// The elements that are rows of indexes.
    private var placesOfIndexes: Set<Int> = []
    /// Bytes of rows and chunks.
    private(set) var size = 0
    private var rowCount = 0
    /// By how many bytes the streams in its rows are longer when they are inflated, about.
    var growth = 0
    /// Bytes of the store's pages that were read for this segment.
    package internal(set) var storeBytes: Int64 = 0
    /// The table whose rows the segment begins with.
    package internal(set) var table = "sqlite_schema"
    /// Whether the rows that are added next belong to an index.
    var isInIndex = false
    /// The runs that earlier segments have of its rows and chunks.
    var earlier: EarlierRuns?
    /// The columns of each element that is rows whose values stand elsewhere too; empty if nobody looked.
    var sharedKeys: [[Int: SharedKeys]] = []
    /// How much of each element that is rows they have.
    private var found: [Int: (count: Int, bytes: Int)] = [:]
    /// Whether it is the last segment of the store.
    package internal(set) var isLast = false
    let integers: IntegerForm
    /// Bytes of rows and chunks at which it is full.
    let capacity: Int
    /// Most rows of a group.
    static let mostRows = 65_536

    init(_ integers: IntegerForm, capacity: Int = usualCapacity) {
        self.integers = integers
        self.capacity = capacity
    }

    /// The most bytes by which streams may grow. The last row may hold a longer one.
    private static let mostGrowth = StreamRoom.mostGrowth / 4 * 3

    var isFull: Bool { isFull(with: 0) }

    /// - Parameter more: Bytes of rows that are not added yet.
    func isFull(with more: Int) -> Bool {
        size + more >= capacity || growth >= Self.mostGrowth || rowCount > SegmentLimits.rows - Self.mostRows
    }

    func next(capacity: Int) -> SegmentContent {
        var next = SegmentContent(integers, capacity: capacity)
        next.table = table
        next.isInIndex = isInIndex
        return next
    }

    mutating func add(_ tag: ItemTag) { elements.append(.number(tag.rawValue)) }

    mutating func add(_ number: UInt64) { elements.append(.number(number)) }

    mutating func add(_ rows: RowGroup, found: (count: Int, bytes: Int)? = nil) {
        add(.rows)
        if let found, found.count > 0 { self.found[elements.count] = found }
        append(.rows(rows))
        size += rows.records.count
        rowCount += rows.ends.count
    }

    /// Adds the item of leaves that follow from a table.
    mutating func add(leaves numbers: [UInt64]) {
        add(.leaves)
        for number in numbers { add(number) }
        size += numbers.count
    }

    mutating func add(chunk: [UInt8]) {
        add(.chunk)
        append(.chunk(chunk))
        size += chunk.count
    }

    private mutating func append(_ rows: Element) {
        if isInIndex { placesOfIndexes.insert(elements.count) }
        elements.append(rows)
    }

    /// The effort for this segment: while the link is idle, time counts for more than size.
    func effort(_ level: CompressionLevel, isOnTrial: Bool) -> SegmentEffort {
        guard !isOnTrial else { return .trial }
        let isEarly = capacity < Self.usualCapacity
        return SegmentEffort(isEarly && level.value > CompressionLevel.standard.value ? .standard : level)
    }

    /// The segment as a frame carries it.
    ///
    /// - Parameters:
    ///   - pages: Of the store; `nil` if the segment refers to no earlier one.
    ///   - note: Gets the encoded size of each part of the tables.
    /// - Throws: `CompressionError`, `CancellationError`, and what `pages` throws.
    package consuming func encoded(
        _ effort: SegmentEffort, after pages: (any PageSource)? = nil, noting note: PartNote? = nil
    ) throws -> [UInt8] {
        let others = effort.others
        guard !others.isEmpty, !Task.isCancelled else { return try encodedOnce(effort, after: pages, note) }
        // Beside great care a lower effort takes a tenth of the time.
        let own = try (copy self).encodedOnce(effort, after: pages, note)
        guard effort.thoroughness == .great || own.count <= Self.fewBytes else { return own }
        var best = own
        // Keys may be smaller where nothing refers to them.
        for keys in sharedKeys.allSatisfy(\.isEmpty) ? [[]] : [sharedKeys, []] {
            sharedKeys = keys
            for effort in others {
                let other = try (copy self).encoded(effort, after: pages)
                if other.count < best.count { best = other }
            }
        }
        return best
    }

    private consuming func encodedOnce(
        _ effort: SegmentEffort, after pages: (any PageSource)?, _ note: PartNote?
    ) throws -> [UInt8] {
        let noteIndex: PartNote? = note.map { note in { note(.indexes, $1) } }
        let count = elements.count
        let density = earlier?.density ?? 1
        // Without a search for matches nothing refers to it.
        let isSearched = effort.margins != [nil]
        let findsRows = isSearched && pages != nil && earlier?.haveRows == true
        var sharedKeys = (isSearched ? sharedKeys : [])[...]
        let contents = elements.compactMap { element -> [UInt8]? in
            switch element {
            case .number: nil
            case .rows(let rows): rows.records
            case .chunk(let bytes): bytes
            }
        }
        var writer = try SegmentWriter(effort: effort, contentSize: size, contents: isSearched ? contents : [])
        // Elements are released as they are written.
        elements.reverse()
        while let element = elements.popLast() {
            try Task.checkCancellation()
            let place = count - elements.count - 1
            let note = placesOfIndexes.contains(place) ? noteIndex : note
            switch element {
            case .number(let number): writer.number(number)
            case .rows(let rows):
                var found = findsRows ? found[place] : nil
                if let known = found {
                    found = (Int(Double(known.count) * density), Int(Double(known.bytes) * density))
                }
                try writer.rows(
                    rows, integers: integers, found: found, sharing: sharedKeys.popFirst() ?? [:], noting: note)
            case .chunk(let bytes): try writer.bytes(bytes, noting: note)
            }
        }
        guard isSearched, let earlier, let pages else { return try writer.finish() }
        return try writer.finish(after: earlier.dictionary(with: writer.areas.keyColumns.flatMap(\.earlier), in: pages))
    }
}

extension EarlierPieces {
    /// The capacities by which the earlier segments of rows were made.
    ///
    /// - Throws: `Mismatch` for a capacity that no segment can have.
    var capacities: [Int] {
        get throws(Mismatch) {
            try checked { note in
                note.setting <= UInt64(SegmentContent.capacitiesOfSmallStore.largest) && note.setting > 0
                    ? Int(note.setting) : nil
            }
        }
    }
}
