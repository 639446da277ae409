/// Writes one tree bottom up, from its rows in the order of their keys.
///
/// Source: `Protocol/CANONICAL.md` sections 5 and 6, whose words it uses.
package struct TreeWriter: ~Copyable {
    private let store: StoreWriter
    private let kind: TreeKind
    private let root: UInt32
    private let geometry: PageGeometry
    private var leaf = PageAssembly()
    /// Of an index tree: the leaf that is full, and its separator.
    private var heldLeaf: (page: PageAssembly, separator: TreeWriterCell)?
    private var levels: [InteriorLevel] = []
    private var lastRowid: Int64?
    private var cell = TreeWriterCell(bytes: [], chain: 0)
    /// A record of which more bytes are to come.
    private var open: OpenRecord?

    private struct InteriorLevel {
        var page = PageAssembly()
        var held: (page: PageAssembly, rightChild: UInt32, separator: TreeWriterCell)?
    }

    private struct OpenRecord {
        var localLeft: Int
        var left: Int
        /// The overflow page that is being filled.
        var number: UInt32 = 0
        var before: UInt32 = 0
        var page: [UInt8] = []
    }

    init(_ store: StoreWriter, _ kind: TreeKind, root: UInt32) {
        self.store = store
        self.kind = kind
        self.root = root
        geometry = store.geometry
    }

    /// Appends what a walk over a tree of the same kind hands on.
    package mutating func take(_ rows: TreeRows) throws {
        switch rows {
        case .begin: break
        case .cells(let cells, _): try append(cells: cells.span)
        case .longCell(let size, let rowid): try beginRecord(size: size, rowid: rowid)
        case .piece(let bytes): try extendRecord(bytes.span)
        case .endOfLongCell: try endRecord()
        case .end: try end()
        }
    }

    /// Appends whole cells.
    private mutating func append(cells: Span<UInt8>) throws {
        var position = 0
        while position < cells.count {
            guard let size = Varint.read(cells, at: &position),
                let rowid = kind == .table ? Varint.read(cells, at: &position) : 0,
                let length = Int(exactly: size), length <= cells.count - position
            else { throw StoreFlaw.record(page: 0) }
            try append(cells.extracting(position..<(position + length)), rowid: Int64(bitPattern: rowid))
            position += length
        }
    }

    /// Appends a whole row.
    ///
    /// - Parameter rowid: Of a table's row, above those before it; 0 in index trees.
    package mutating func append(_ record: Span<UInt8>, rowid: Int64 = 0) throws {
        try beginRecord(size: record.count, rowid: rowid)
        if let open, open.localLeft == record.count {
            self.open = nil
            record.withUnsafeBufferPointer { cell.bytes.append(contentsOf: $0) }
            return try place()
        }
        try extendRecord(record)
        try endRecord()
    }

    /// Begins a row of which the record comes in pieces.
    package mutating func beginRecord(size: Int, rowid: Int64 = 0) throws {
        let local = geometry.localSize(ofPayload: size, in: kind)
        cell.bytes.removeAll(keepingCapacity: true)
        cell.chain = 0
        Varint.append(UInt64(size), to: &cell.bytes)
        if kind == .table {
            if let lastRowid, lastRowid >= rowid { throw StoreFlaw.page(0, .order) }
            Varint.append(UInt64(bitPattern: rowid), to: &cell.bytes)
            let length = cell.bytes.count + local + (local < size ? 4 : 0)
            if leaf.used + PageAssembly.room(forCell: length) > geometry.usableSize - 8 { try finishTableLeaf() }
            lastRowid = rowid
        }
        open = OpenRecord(localLeft: local, left: size)
    }

    package mutating func extendRecord(_ bytes: Span<UInt8>) throws {
        guard var record = open else { return }
        open = nil
        guard bytes.count <= record.left else { throw StoreFlaw.record(page: 0) }
        var position = 0
        while position < bytes.count {
            if record.localLeft > 0 {
                let take = min(record.localLeft, bytes.count - position)
                bytes.extracting(position..<(position + take)).withUnsafeBufferPointer {
                    cell.bytes.append(contentsOf: $0)
                }
                record.localLeft -= take
                record.left -= take
                position += take
                continue
            }
            if record.page.count == geometry.usableSize || record.number == 0 { try nextOverflowPage(&record) }
            let take = min(geometry.usableSize - record.page.count, bytes.count - position)
            bytes.extracting(position..<(position + take)).withUnsafeBufferPointer {
                record.page.append(contentsOf: $0)
            }
            record.left -= take
            position += take
        }
        open = record
    }

    package mutating func endRecord() throws {
        guard var record = open else { return }
        open = nil
        guard record.left == 0 else { throw StoreFlaw.record(page: 0) }
        if record.number != 0 { try writeOverflowPage(&record, next: 0) }
        try place()
    }

    private mutating func place() throws {
        switch kind {
        case .table: leaf.append(cell)
        case .index: try appendEntry()
        }
    }

    private mutating func nextOverflowPage(_ record: inout OpenRecord) throws {
        let next = try store.nextPage()
        if record.number == 0 {
            cell.chain = next
            withUnsafeBytes(of: next.bigEndian) { cell.bytes.append(contentsOf: $0) }
        } else {
            try writeOverflowPage(&record, next: next)
            try store.point(next, type: .inChain, parent: record.number)
        }
        record.number = next
        record.page.removeAll(keepingCapacity: true)
        record.page.reserveCapacity(geometry.pageSize)
        record.page.append(contentsOf: [0, 0, 0, 0])
    }

    private mutating func writeOverflowPage(_ record: inout OpenRecord, next: UInt32) throws {
        withUnsafeBytes(of: next.bigEndian) { record.page.replaceSubrange(0..<4, with: $0) }
        record.page += [UInt8](repeating: 0, count: geometry.pageSize - record.page.count)
        try store.sink.write(record.page, number: record.number)
    }

    /// Nothing more comes: writes what is held, and the root.
    package mutating func end() throws {
        if leaf.isEmpty, var held = heldLeaf, let last = held.page.removeLast(ofInterior: false) {
            heldLeaf = nil
            leaf.append(held.separator)
            held.separator = last.cell
            try emitLeaf(held.page, held.separator)
        }
        guard !levels.isEmpty else {
            return try finishRoot(leaf, type: kind.leafType, rightChild: nil)
        }
        try finish(level: 0, rightChild: try emit(leaf, type: kind.leafType, rightChild: nil))
    }

    // MARK: Leaves

    private mutating func finishTableLeaf() throws {
        guard let lastRowid else { return }
        var separator = TreeWriterCell(bytes: [], chain: 0)
        Varint.append(UInt64(bitPattern: lastRowid), to: &separator.bytes)
        let full = leaf
        leaf.removeAll()
        try emitLeaf(full, separator)
    }

    private mutating func appendEntry() throws {
        guard leaf.used + PageAssembly.room(forCell: cell.bytes.count) <= geometry.usableSize - 8 else {
            heldLeaf = (leaf, cell)
            leaf = PageAssembly()
            return
        }
        if leaf.isEmpty, let held = heldLeaf {
            heldLeaf = nil
            try emitLeaf(held.page, held.separator)
        }
        leaf.append(cell)
    }

    private mutating func emitLeaf(_ page: PageAssembly, _ separator: TreeWriterCell) throws {
        try push(try emit(page, type: kind.leafType, rightChild: nil), separator, level: 0)
    }

    // MARK: Interior pages

    private mutating func push(_ child: UInt32, _ separator: TreeWriterCell, level: Int) throws {
        if level == levels.count { levels.append(InteriorLevel()) }
        let room = PageAssembly.room(forCell: separator.bytes.count + 4)
        guard levels[level].page.used + room <= geometry.usableSize - 12 else {
            levels[level].held = (levels[level].page, child, separator)
            levels[level].page = PageAssembly()
            return
        }
        if levels[level].page.isEmpty { try emitHeld(level: level) }
        levels[level].page.append(separator, child: child)
    }

    private mutating func emitHeld(level: Int) throws {
        guard let held = levels[level].held else { return }
        levels[level].held = nil
        let number = try emit(held.page, type: kind.interiorType, rightChild: held.rightChild)
        try push(number, held.separator, level: level + 1)
    }

    private mutating func finish(level: Int, rightChild: UInt32) throws {
        if levels[level].page.isEmpty, let held = levels[level].held {
            var page = held.page
            levels[level].page.append(held.separator, child: held.rightChild)
            if let last = page.removeLast(ofInterior: true) {
                levels[level].held = (page, last.child, last.cell)
                try emitHeld(level: level)
            }
        }
        let page = levels[level].page
        guard level + 1 < levels.count else {
            return try finishRoot(page, type: kind.interiorType, rightChild: rightChild)
        }
        try finish(level: level + 1, rightChild: try emit(page, type: kind.interiorType, rightChild: rightChild))
    }

    private mutating func emit(_ page: PageAssembly, type: UInt8, rightChild: UInt32?) throws -> UInt32 {
        let number = try store.nextPage()
        try store.emit(page, type: type, rightChild: rightChild, number: number)
        return number
    }

    private mutating func finishRoot(_ page: PageAssembly, type: UInt8, rightChild: UInt32?) throws {
        let header = rightChild == nil ? 8 : 12
        if root == 1, header + page.used > geometry.usableSize - DatabaseHeader.size {
            let number = try emit(page, type: type, rightChild: rightChild)
            return try store.emit(PageAssembly(), type: kind.interiorType, rightChild: number, number: 1)
        }
        try store.emit(page, type: type, rightChild: rightChild, number: root)
    }
}
