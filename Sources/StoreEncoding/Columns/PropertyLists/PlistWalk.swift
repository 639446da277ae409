/// Goes through the objects of lists in the order of their codes, and tells the context of each. Encoder and decoder share it.
///
/// Source: `Protocol/LISTS.md` 2, 4 and 5.
struct PlistWalk {
    /// Arrays, dictionaries and visited elements within one another.
    static let deepest = 65_536
    /// Columns of a row that codes can name.
    static let namedColumns = 32

    /// Where the object of the next code stands.
    struct Slot {
        let context: Int
        /// The dictionary that it belongs to, as an index of `rows`; -1 for none.
        let row: Int
        /// -1 for none.
        let place: Int
        /// Where the object is among the references of its list.
        let reference: Int
        /// Where its UID is noted; -1 where none can name it.
        let cell: Int
        let isInColumn: Bool
        /// The element of the table that it is; -1 for none.
        let element: Int
        /// Whether it is an element of the table or stands in one.
        let isInElement: Bool
    }

    private struct Row {
        let parent: Int
        let place: Int
        let uid: Int
        /// The cells of its first `namedColumns` columns.
        let cells: Range<Int>
    }

    private struct Frame {
        let isDictionary: Bool
        /// The context of the elements.
        let context: Int
        let row: Int
        let shape: Int
        var next = 0
        let count: Int
        let reference: Int
        /// -1 where no code can name them.
        let cells: Int
        let isInElement: Bool
        /// The number that it adds to the depth: 2 for an element of the table, which counts itself and the array or dictionary that it is.
        let depth: Int
    }

    // Contexts, over all lists.
    /// By shape: the keys of a dictionary, as indexes of names and in their order, and the columns in the order in which they are visited.
    private var shapes: [(names: [Int], order: [Int])] = []
    private var columnContexts: [[Int]] = []
    private var topContext = -1
    private var restContext = -1
    private var elementContexts: [Int] = []
    private var targetContexts: [Int] = []
    private var previous: [UInt32] = []

    // The list that is walked.
    /// Whether the top of the list is still to come.
    private var isTopLeft = false
    private var tableReference = 0
    private var named: [Bool] = []
    private var visited: [Bool] = []
    private var lowestUnnamed = 0
    private var lowestUnvisited = 0
    private var frames: [Frame] = []
    private var depth = 0
    private var target: Slot?
    private var rows: [Row] = []
    /// UIDs; -1 for none. For an array -2 less the place where the UIDs of its elements are, after their number.
    private var cells: [Int] = []

    init(shapes: [(names: [Int], order: [Int])] = []) {
        for shape in shapes { add(shape) }
    }

    var contexts: Int { previous.count }
    var tableCount: Int { named.count }

    mutating func add(_ shape: (names: [Int], order: [Int])) {
        shapes.append(shape)
        columnContexts.append([Int](repeating: -1, count: shape.names.count))
    }

    /// - Parameters:
    ///   - table: Elements of the archive's table; 0 for a list that is none.
    ///   - tableReference: Where the first of them is among the references. The top is the first of all.
    mutating func begin(table: Int, at tableReference: Int) {
        isTopLeft = true
        self.tableReference = tableReference
        named = [Bool](repeating: false, count: table)
        visited = named
        (lowestUnnamed, lowestUnvisited) = (0, 0)
        frames.removeAll(keepingCapacity: true)
        depth = 0
        rows.removeAll(keepingCapacity: true)
        cells.removeAll(keepingCapacity: true)
        // The first element of a table comes before the top.
        target = table > 0 ? rest(0) : nil
    }

    /// - Returns: `nil` at the end of the list.
    mutating func next() -> Slot? {
        if let target {
            self.target = nil
            return target
        }
        while let frame = frames.last {
            guard frame.next < frame.count else {
                depth -= frame.depth
                frames.removeLast()
                continue
            }
            frames[frames.count - 1].next += 1
            return frame.isDictionary ? column(of: frame) : element(of: frame)
        }
        if isTopLeft {
            isTopLeft = false
            if topContext < 0 { topContext = addContext() }
            return Slot(
                context: topContext, row: -1, place: -1, reference: 0, cell: -1, isInColumn: false, element: -1,
                isInElement: false)
        }
        while lowestUnvisited < visited.count, visited[lowestUnvisited] { lowestUnvisited += 1 }
        return lowestUnvisited < visited.count ? rest(lowestUnvisited) : nil
    }

    private mutating func rest(_ element: Int) -> Slot {
        (named[element], visited[element]) = (true, true)
        if restContext < 0 { restContext = addContext() }
        return Slot(
            context: restContext, row: -1, place: -1, reference: tableReference + element, cell: -1, isInColumn: false,
            element: element, isInElement: true)
    }

    private mutating func column(of frame: Frame) -> Slot {
        let place = frame.next
        if columnContexts[frame.shape][place] < 0 {
            let context = addContext()
            columnContexts[frame.shape][place] = context
        }
        return Slot(
            context: columnContexts[frame.shape][place], row: frame.row, place: -1,
            reference: frame.reference + frame.count + shapes[frame.shape].order[place],
            cell: place < Self.namedColumns ? rows[frame.row].cells.lowerBound + place : -1, isInColumn: true,
            element: -1, isInElement: frame.isInElement)
    }

    private mutating func element(of frame: Frame) -> Slot {
        Slot(
            context: frame.context, row: frame.row, place: frame.cells < 0 ? -1 : frame.next,
            reference: frame.reference + frame.next, cell: frame.cells < 0 ? -1 : frame.cells + frame.next,
            isInColumn: false, element: -1, isInElement: frame.isInElement)
    }

    private mutating func addContext() -> Int {
        elementContexts.append(-1)
        targetContexts.append(-1)
        previous.append(0)
        return previous.count - 1
    }

    // MARK: What a code means

    /// The elements of an array come next.
    ///
    /// - Parameter reference: The first of its references.
    /// - Returns: `false` if it stands too deep.
    mutating func enterArray(of count: Int, at reference: Int, in slot: Slot) -> Bool {
        guard open(in: slot) else { return false }
        guard count > 0 else {
            depth -= depth(of: slot)
            return true
        }
        if elementContexts[slot.context] < 0 {
            let context = addContext()
            elementContexts[slot.context] = context
        }
        var first = -1
        if slot.isInColumn {
            first = cells.count + 1
            cells.append(count)
            cells.append(contentsOf: repeatElement(-1, count: count))
            if slot.cell >= 0 { cells[slot.cell] = -2 - first }
        }
        frames.append(
            Frame(
                isDictionary: false, context: elementContexts[slot.context], row: slot.row, shape: -1, count: count,
                reference: reference, cells: first, isInElement: slot.isInElement, depth: depth(of: slot)))
        return true
    }

    /// The columns of a dictionary come next.
    mutating func enterDictionary(_ shape: Int, at reference: Int, in slot: Slot) -> Bool {
        guard open(in: slot) else { return false }
        let count = shapes[shape].names.count
        let first = cells.count
        cells.append(contentsOf: repeatElement(-1, count: min(count, Self.namedColumns)))
        rows.append(Row(parent: slot.row, place: slot.place, uid: slot.element, cells: first..<cells.count))
        frames.append(
            Frame(
                isDictionary: true, context: -1, row: rows.count - 1, shape: shape, count: count, reference: reference,
                cells: -1, isInElement: slot.isInElement, depth: depth(of: slot)))
        return true
    }

    private func depth(of slot: Slot) -> Int { slot.element >= 0 ? 2 : 1 }

    private mutating func open(in slot: Slot) -> Bool {
        depth += depth(of: slot)
        return depth <= Self.deepest
    }

    /// The lowest element that no UID has named.
    mutating func unnamed() -> Int? {
        while lowestUnnamed < named.count, named[lowestUnnamed] { lowestUnnamed += 1 }
        return lowestUnnamed < named.count ? lowestUnnamed : nil
    }

    func isVisited(_ uid: UInt32) -> Bool { Int(uid) >= visited.count || visited[Int(uid)] }

    /// The UID before in a context.
    func previous(in slot: Slot) -> UInt32 { previous[slot.context] }

    /// A UID stands in `slot`.
    mutating func name(_ uid: UInt32, in slot: Slot) {
        previous[slot.context] = uid
        if Int(uid) < named.count { named[Int(uid)] = true }
        if slot.cell >= 0 { cells[slot.cell] = Int(uid) }
    }

    /// The element that the UID in `slot` leads to comes next.
    mutating func visit(_ uid: UInt32, from slot: Slot) {
        visited[Int(uid)] = true
        if targetContexts[slot.context] < 0 {
            let context = addContext()
            targetContexts[slot.context] = context
        }
        target = Slot(
            context: targetContexts[slot.context], row: slot.row, place: slot.place,
            reference: tableReference + Int(uid), cell: -1, isInColumn: false, element: Int(uid), isInElement: true)
    }

    // MARK: UIDs that follow from others

    /// - Returns: The UID that a code from `previous` on stands for; `nil` if there is none.
    func uid(for code: UInt8, in slot: Slot) -> UInt32? {
        if code == PlistCode.previous { return previous[slot.context] }
        guard slot.row >= 0 else { return nil }
        let row = rows[slot.row]
        switch code {
        case _ where PlistCode.ancestors.contains(code):
            var ancestor = row
            for _ in PlistCode.ancestors.lowerBound..<code {
                guard ancestor.parent >= 0 else { return nil }
                ancestor = rows[ancestor.parent]
            }
            return UInt32(exactly: ancestor.uid)
        case _ where PlistCode.columnsOfRow.contains(code):
            return uid(Int(code - PlistCode.columnsOfRow.lowerBound), of: row)
        case _ where PlistCode.columnsOfParent.contains(code):
            guard row.parent >= 0 else { return nil }
            return uid(Int(code - PlistCode.columnsOfParent.lowerBound), of: rows[row.parent])
        case _ where PlistCode.beside.contains(code):
            guard row.parent >= 0, row.place >= 0 else { return nil }
            let column = Int(code - PlistCode.beside.lowerBound)
            let places = rows[row.parent].cells
            guard column < places.count, cells[places.lowerBound + column] <= -2 else { return nil }
            let elements = -2 - cells[places.lowerBound + column]
            guard row.place < cells[elements - 1] else { return nil }
            return UInt32(exactly: cells[elements + row.place])
        default: return nil
        }
    }

    private func uid(_ column: Int, of row: Row) -> UInt32? {
        column < row.cells.count ? UInt32(exactly: cells[row.cells.lowerBound + column]) : nil
    }

    /// - Returns: The first code that stands for `uid`.
    func code(for uid: UInt32, in slot: Slot) -> UInt8? {
        if previous[slot.context] == uid { return PlistCode.previous }
        guard slot.row >= 0 else { return nil }
        var ancestor = slot.row
        for code in PlistCode.ancestors where ancestor >= 0 {
            if rows[ancestor].uid == Int(uid) { return code }
            ancestor = rows[ancestor].parent
        }
        let row = rows[slot.row]
        if let column = column(of: row, with: uid) { return PlistCode.columnsOfRow.lowerBound + column }
        guard row.parent >= 0 else { return nil }
        if let column = column(of: rows[row.parent], with: uid) { return PlistCode.columnsOfParent.lowerBound + column }
        guard row.place >= 0 else { return nil }
        for (column, cell) in cells[rows[row.parent].cells].enumerated() where cell <= -2 {
            let elements = -2 - cell
            if row.place < cells[elements - 1], cells[elements + row.place] == Int(uid) {
                return PlistCode.beside.lowerBound + UInt8(truncatingIfNeeded: column)
            }
        }
        return nil
    }

    private func column(of row: Row, with uid: UInt32) -> UInt8? {
        cells[row.cells].firstIndex(of: Int(uid)).map { UInt8(truncatingIfNeeded: $0 - row.cells.lowerBound) }
    }
}
