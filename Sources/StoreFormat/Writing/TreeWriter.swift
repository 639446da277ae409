/// Writes one tree bottom up, from its rows in the order of their keys.
///
/// Source: `Protocol/CANONICAL.md` sections 5 and 6. It uses their words.
package struct TreeWriter: ~Copyable {
    private let store: StoreWriter
    private let kind: TreeKind
    private let root: UInt32
    private let geometry: PageGeometry
    private var leaf: PageAssembly
    /// A leaf that is not in use.
    private var spare: PageAssembly?
    /// In an index tree: the last full leaf, and its separator.
    private var heldLeaf: (page: PageAssembly, separator: TreeWriterCell)?
    /// The interior page that is being filled at each level, and the last full one.
    private var levels:
        [(page: PageAssembly, held: (page: PageAssembly, rightChild: UInt32, separator: TreeWriterCell)?)] = []
    private var lastRowid: Int64?
    private var cell = TreeWriterCell(bytes: [], chain: 0)
    /// A record whose bytes are still coming.
    private var open: OpenRecord?

    private struct OpenRecord {
        var localLeft: Int
        var left: Int
        /// The overflow page that is being filled.
        var number: UInt32 = 0
        var page: [UInt8] = []
    }

    init(_ store: StoreWriter, _ kind: TreeKind, root: UInt32) {
        self.store = store
        self.kind = kind
        self.root = root
        geometry = store.geometry
        leaf = PageAssembly(isLeaf: true, geometry)
    }

    /// Appends the rows that a walk over a tree of the same kind hands on.
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

    /// Appends complete cells.
    private mutating func append(cells: Span<UInt8>) throws {
        let mostLocal = UInt64(geometry.mostLocal(in: kind))
        var position = 0
        while position < cells.count {
            let start = position
            guard let size = Varint.read(cells, at: &position),
                let rowid = kind == .table ? Varint.read(cells, at: &position) : 0,
                let length = Int(exactly: size), length <= cells.count - position
            else { throw StoreFlaw.record(page: 0) }
            let record = position
            position += length
            // Without overflow a cell goes into its page unchanged.
            if size <= mostLocal, open == nil {
                try cells.extracting(start..<position).withUnsafeBytes {
                    try append(cell: $0, rowid: Int64(bitPattern: rowid))
                }
            } else {
                try append(cells.extracting(record..<position), rowid: Int64(bitPattern: rowid))
            }
        }
    }

    /// Appends a cell without overflow.
    private mutating func append(cell bytes: UnsafeRawBufferPointer, rowid: Int64) throws {
        if kind == .table {
            if let lastRowid, lastRowid >= rowid { throw StoreFlaw.page(0, .order) }
            if !leaf.fits(bytes.count) { try finishTableLeaf() }
            lastRowid = rowid
            leaf.append(bytes)
        } else if leaf.fits(bytes.count), !leaf.isEmpty || heldLeaf == nil {
            leaf.append(bytes)
        } else {
            cell.bytes.removeAll(keepingCapacity: true)
            cell.bytes.append(contentsOf: bytes)
            cell.chain = 0
            try appendEntry()
        }
    }

    /// Appends the rows of a leaf of a tree of the same kind and geometry. Where a leaf of this tree begins too, it is the same leaf.
    package mutating func append(_ leaf: PackedLeaf) throws {
        if kind == .table {
            if let lastRowid, lastRowid >= leaf.rowids.first { throw StoreFlaw.page(0, .order) }
            if !self.leaf.isEmpty, !self.leaf.fits(leaf.lengths.first) { try finishTableLeaf() }
        }
        guard self.leaf.isEmpty else { return try leaf.forEachCell { try append(cell: $0, rowid: $1) } }
        try emitHeldLeaf()
        self.leaf.append(leaf)
        if kind == .table { lastRowid = leaf.rowids.last }
    }

    /// Appends a row. Its rowid is above the last one in the tree of a table, and 0 in that of an index.
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

    /// Begins a row whose record comes in pieces.
    package mutating func beginRecord(size: Int, rowid: Int64 = 0) throws {
        let local = geometry.localSize(ofPayload: size, in: kind)
        cell.bytes.removeAll(keepingCapacity: true)
        cell.chain = 0
        Varint.append(UInt64(size), to: &cell.bytes)
        if kind == .table {
            if let lastRowid, lastRowid >= rowid { throw StoreFlaw.page(0, .order) }
            Varint.append(UInt64(bitPattern: rowid), to: &cell.bytes)
            let length = cell.bytes.count + local + (local < size ? 4 : 0)
            if !leaf.fits(length) { try finishTableLeaf() }
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

    /// The tree ends: writes the pages that are held, and the root.
    package mutating func end() throws {
        if leaf.isEmpty, var held = heldLeaf, let last = held.page.removeLast() {
            heldLeaf = nil
            leaf.append(held.separator)
            try push(try store.emitNext(&held.page, type: kind.leafType, rightChild: nil), last.cell, level: 0)
        }
        guard !levels.isEmpty else {
            return try store.emitRoot(&leaf, type: kind.leafType, rightChild: nil, kind, number: root)
        }
        try finish(level: 0, rightChild: try store.emitNext(&leaf, type: kind.leafType, rightChild: nil))
    }

    // MARK: Leaves

    private mutating func finishTableLeaf() throws {
        guard let lastRowid else { return }
        var separator = TreeWriterCell(bytes: [], chain: 0)
        Varint.append(UInt64(bitPattern: lastRowid), to: &separator.bytes)
        try push(try store.emitNext(&leaf, type: kind.leafType, rightChild: nil), separator, level: 0)
        leaf.removeAll()
    }

    private mutating func appendEntry() throws {
        guard leaf.fits(cell.bytes.count) else {
            let next = spare ?? PageAssembly(isLeaf: true, geometry)
            spare = nil
            heldLeaf = (leaf, cell)
            leaf = next
            return
        }
        if leaf.isEmpty { try emitHeldLeaf() }
        leaf.append(cell)
    }

    private mutating func emitHeldLeaf() throws {
        guard var held = heldLeaf else { return }
        heldLeaf = nil
        try push(try store.emitNext(&held.page, type: kind.leafType, rightChild: nil), held.separator, level: 0)
        held.page.removeAll()
        spare = held.page
    }

    // MARK: Interior pages

    private mutating func push(_ child: UInt32, _ separator: TreeWriterCell, level: Int) throws {
        if level == levels.count { levels.append((PageAssembly(isLeaf: false, geometry), nil)) }
        guard levels[level].page.fits(separator.bytes.count + 4) else {
            levels[level].held = (levels[level].page, child, separator)
            levels[level].page = PageAssembly(isLeaf: false, geometry)
            return
        }
        if levels[level].page.isEmpty { try emitHeld(level: level) }
        levels[level].page.append(separator, child: child)
    }

    private mutating func emitHeld(level: Int) throws {
        guard var held = levels[level].held else { return }
        levels[level].held = nil
        let number = try store.emitNext(&held.page, type: kind.interiorType, rightChild: held.rightChild)
        try push(number, held.separator, level: level + 1)
    }

    private mutating func finish(level: Int, rightChild: UInt32) throws {
        if levels[level].page.isEmpty, var held = levels[level].held {
            levels[level].page.append(held.separator, child: held.rightChild)
            if let last = held.page.removeLast() {
                levels[level].held = (held.page, last.child, last.cell)
                try emitHeld(level: level)
            }
        }
        var page = levels[level].page
        guard level + 1 < levels.count else {
            return try store.emitRoot(&page, type: kind.interiorType, rightChild: rightChild, kind, number: root)
        }
        try finish(
            level: level + 1, rightChild: try store.emitNext(&page, type: kind.interiorType, rightChild: rightChild))
    }
}
