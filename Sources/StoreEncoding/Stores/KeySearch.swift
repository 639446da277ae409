import ShipCompression
import StoreFormat

/// Finds which columns have values that other columns have: keys, by which rows name each other. No column shows by itself that its values
/// take fewer bytes as they stand, as matches, than in an encoding that suits them.
///
/// It compares hashes: whether values are the same is for the search for matches to see. Memory: 12 bytes a slot, at most 3 MiB.
final class KeySearch {
    /// Shorter values are not found by the search for matches; longer ones are found as rows are (`EarlierSearch`).
    static let lengths = MatchSearch.keySize..<128
    private static let slotBits = 10...18
    /// A value has to be found so often that the column is worth a look.
    static let leastShare = 0.125
    private static let runCost = 5
    /// The runs of a segment, which its dictionary has room for besides those of rows.
    private static let mostRuns = (count: SegmentLimits.pageRuns / 8 * 7, bytes: SegmentLimits.pageRunBytes / 2)
    /// What stands no further apart in the store is seen by deflate, in whichever encoding both are: so much of a store takes less than the
    /// 32,768 bytes that it sees.
    private static let visible = 65_536
    /// A column of so many bytes ends further away than deflate sees, in whichever encoding: so do rows that are named shortly after they came.
    private static let longColumn = 131_072

    /// A place in a page, and some bits of the hash of the value there; 0 for none.
    private let places: UnsafeMutablePointer<UInt64>
    /// The column that had the value last, by its number.
    private let owners: UnsafeMutablePointer<UInt32>
    private let shift: UInt64
    private let visiblePages: UInt32
    private static let tagMask: UInt64 = 0xffff

    /// A column of a group.
    private struct Column {
        var distinct = 0
        /// Bytes of those.
        var size = 0
        /// Bytes of all values that are as long as keys are, less those of all others.
        var excess = 0
        var earlier: [PageRun] = []
        /// Other columns of the segment, by their index, and how many values they have had before.
        var here: [Int: Int] = [:]
        /// The same of those that came shortly before.
        var near: [Int: Int] = [:]
        /// Values that later columns of the segment have, and those of such as have fewer of earlier segments.
        var (later, laterAlone) = (0, 0)

        mutating func add(_ value: UnsafeRawBufferPointer) {
            distinct += 1
            size += value.count
        }
    }

    /// Those of this segment.
    private var columns: [Column] = []
    /// The number of the first of them.
    private var first: UInt32 = 1
    /// Where the columns of each group begin.
    private var groups = [0]

    /// - Parameter pageCount: Of the store. One of few bytes has few values.
    init(pageCount: UInt32, pageSize: Int) {
        visiblePages = UInt32(Self.visible / pageSize)
        let wanted = Int.bitWidth - (Int(pageCount) * pageSize / 24).leadingZeroBitCount
        let bits = min(max(wanted, Self.slotBits.lowerBound), Self.slotBits.upperBound)
        shift = UInt64(64 - bits)
        places = .allocate(capacity: 1 << bits)
        places.initialize(repeating: 0, count: 1 << bits)
        owners = .allocate(capacity: 1 << bits)
        owners.initialize(repeating: 0, count: 1 << bits)
    }

    deinit {
        places.deallocate()
        owners.deallocate()
    }

    /// Looks at the values of a row.
    ///
    /// - Parameters:
    ///   - values: Where they are in the record.
    ///   - cell: The cell of the record.
    ///   - written: Tells what earlier segments have; `nil` in a store of one segment.
    func look(at record: UnsafeRawBufferPointer, _ values: RecordColumns, of cell: TreeCell, _ written: WrittenPages?) {
        let begin = groups[groups.count - 1]
        for place in 0..<values.count where values.types[place] >= SerialType.firstOfVariableLength {
            let range = values.range(place)
            while columns.count <= begin + place { columns.append(Column()) }
            guard Self.lengths.contains(range.count), range.upperBound <= min(cell.localSize, record.count) else {
                columns[begin + place].excess -= range.count
                continue
            }
            columns[begin + place].excess += range.count
            look(
                at: UnsafeRawBufferPointer(rebasing: record[range]), begin + place, cell, cell.start + range.lowerBound,
                written)
        }
    }

    private func look(
        at value: UnsafeRawBufferPointer, _ column: Int, _ cell: TreeCell, _ offset: Int, _ written: WrittenPages?
    ) {
        let hash = Self.hash(value)
        let slot = Int(truncatingIfNeeded: hash &>> shift)
        let own = first &+ UInt32(truncatingIfNeeded: column)
        let (place, owner) = (places[slot], owners[slot])
        guard place != 0, place & Self.tagMask == hash & Self.tagMask else {
            places[slot] = UInt64(cell.page) << 32 | UInt64(offset) << 16 | hash & Self.tagMask
            owners[slot] = own
            columns[column].add(value)
            return
        }
        // Of the values of one column each counts once.
        guard owner != own else { return }
        owners[slot] = own
        columns[column].add(value)
        let page = UInt32(truncatingIfNeeded: place >> 32)
        if let written, written.mayName(page) {
            columns[column].earlier.append(
                PageRun(page: page, offset: Int(place >> 16 & 0xffff), count: value.count, isChain: false))
        } else if owner >= first {
            let owner = Int(owner - first)
            if cell.page > page, cell.page - page >= visiblePages {
                columns[column].here[owner, default: 0] += 1
            } else {
                columns[column].near[owner, default: 0] += 1
            }
        }
    }

    private static func hash(_ value: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(value.count)
        var place = 0
        // The last eight bytes may be looked at twice.
        while place < value.count {
            let word = value.loadUnaligned(fromByteOffset: min(place, value.count - 8), as: UInt64.self)
            hash = (hash ^ hash >> 29 ^ word) &* 0x9e37_79b9_7f4a_7c15
            place += 8
        }
        return hash ^ hash >> 32
    }

    func endGroup() { groups.append(columns.count) }

    /// The segment ends.
    ///
    /// - Returns: For each group that has ended its columns, as far as they have values that stand elsewhere.
    func endSegment(_ written: WrittenPages?) -> [[Int: SharedKeys]] {
        defer {
            first &+= UInt32(truncatingIfNeeded: columns.count)
            columns.removeAll(keepingCapacity: true)
            groups = [0]
        }
        for index in columns.indices {
            let near = columns[index].near.filter { columns[$0.key].size >= Self.longColumn }
            columns[index].here.merge(near, uniquingKeysWith: +)
            let here = columns[index].here
            let isAlone = columns[index].earlier.count <= here.reduce(0) { $0 + $1.value }
            for (owner, count) in here {
                columns[owner].later += count
                if isAlone { columns[owner].laterAlone += count }
            }
        }
        var (count, bytes) = (Self.mostRuns.count, Self.mostRuns.bytes)
        return zip(groups, groups.dropFirst()).map { begin, end in
            var shared: [Int: SharedKeys] = [:]
            for index in begin..<end {
                var column = columns[index]
                let taken = column.earlier.prefix { run in
                    (count, bytes) = (count - 1, bytes - run.count)
                    return count >= 0 && bytes >= 0
                }
                column.earlier = Array(taken)
                let found = column.earlier.count + column.here.reduce(0) { $0 + $1.value }
                guard found + column.later >= Int(Self.leastShare * Double(column.distinct)), column.distinct > 0,
                    column.excess >= 0
                else { continue }
                let runs = written?.merged(column.earlier).runs.count ?? 0
                shared[index - begin] = SharedKeys(
                    column: index, distinct: column.distinct, earlier: column.earlier, here: column.here,
                    later: column.later, laterAlone: column.laterAlone, runCost: Self.runCost * runs)
            }
            return shared
        }
    }
}
