/// One page of a b-tree. Each read of a cell checks its bounds.
///
/// Source: sqlite.org/fileformat2.html section 1.6.
final class TreePage {
    let number: UInt32
    let isLeaf: Bool
    let cellCount: Int
    let bytes: [UInt8]
    private let kind: TreeKind
    private let geometry: PageGeometry
    /// Where the cell pointers begin.
    let pointers: Int

    init(_ number: UInt32, _ bytes: [UInt8], _ kind: TreeKind, _ geometry: PageGeometry) throws(StoreFlaw) {
        let header = number == 1 ? DatabaseHeader.size : 0
        let type = bytes[header]
        guard type == kind.leafType || type == kind.interiorType else { throw .page(number, .type(type)) }
        self.number = number
        self.bytes = bytes
        self.kind = kind
        self.geometry = geometry
        isLeaf = type == kind.leafType
        cellCount = Int(bytes[header + 3]) << 8 | Int(bytes[header + 4])
        pointers = header + (isLeaf ? 8 : 12)
        guard pointers + 2 * cellCount <= geometry.usableSize else { throw .page(number, .cell(cellCount)) }
    }

    /// Of an interior page.
    var rightChild: UInt32 { word(at: pointers - 4) }

    /// Of an interior page.
    func child(_ index: Int) throws(StoreFlaw) -> UInt32 { word(at: try cellStart(index)) }

    /// A cell; in an interior page of an index, without its child. Not for interior pages of a table.
    func cell(_ index: Int) throws(StoreFlaw) -> TreeCell {
        let start = try cellStart(index)
        var position = start + (isLeaf ? 0 : 4)
        let whole = self.bytes
        let bytes = whole.span
        guard let size = Varint.read(bytes, at: &position), size <= UInt64(Int32.max) else {
            throw .page(number, .cell(index))
        }
        var rowid: UInt64 = 0
        if kind == .table {
            guard let value = Varint.read(bytes, at: &position) else { throw .page(number, .cell(index)) }
            rowid = value
        }
        let local = geometry.localSize(ofPayload: Int(size), in: kind)
        let end = position + local + (local < Int(size) ? 4 : 0)
        guard end <= geometry.usableSize else { throw .page(number, .cell(index)) }
        return TreeCell(
            rowid: Int64(bitPattern: rowid), payloadSize: Int(size), page: number, start: position, localSize: local,
            overflow: local < Int(size) ? word(at: position + local) : 0, room: max(4, end - start))
    }

    /// The highest rowid below a child, of an interior page of a table.
    func separator(_ index: Int) throws(StoreFlaw) -> Int64 {
        var position = try cellStart(index) + 4
        let whole = bytes
        guard let value = Varint.read(whole.span, at: &position), position <= geometry.usableSize else {
            throw .page(number, .cell(index))
        }
        return Int64(bitPattern: value)
    }

    /// Copies cells of a leaf for as long as a walk hands each on unchanged: the whole record is in the page, canonical if `form` asks
    /// for it, and the varints are the shortest. It stops at the first other cell, at a broken one, and where the output is full.
    ///
    /// - Parameters:
    ///   - place: The cell to begin with, the bytes of the cells before it, which are more than the page has where cells overlap, and in
    ///     a table the rowid before it; afterwards the same of the cell at which it stopped.
    ///   - form: The canonical form that the records must have; `nil` for any record.
    /// - Returns: Bytes written.
    func copyUnchangedCells(
        at place: inout (index: Int, used: Int, lastRowid: Int64?), _ form: IntegerForm?,
        to output: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard isLeaf, let target = output.baseAddress else { return 0 }
        let (usableSize, lowest, room) = (geometry.usableSize, pointers + 2 * cellCount, room)
        let mostLocal = geometry.mostLocal(in: kind)
        let isTable = kind == .table
        var (index, used, last) = (place.index, place.used, place.lastRowid)
        var written = 0
        bytes.withUnsafeBufferPointer { page in
            // The initializer has checked that all pointers are in the page, and `usableSize` is at most the page's size.
            guard let page = page.baseAddress else { return }
            while index < cellCount {
                let pointer = page + pointers + 2 * index
                let start = Int(pointer[0]) << 8 | Int(pointer[1])
                guard start >= lowest,
                    let cell = WholeCell(page, at: start, upTo: usableSize, isTable: isTable, mostLocal: mostLocal)
                else { break }
                let end = cell.end
                // 4 is the least that a cell takes.
                let taken = max(4, end - start)
                guard start + 4 <= usableSize, used + taken <= room, written + end - start <= output.count,
                    !isTable || last.map({ $0 < cell.rowid }) ?? true
                else { break }
                if let form {
                    guard CanonicalRecord.isShortAndCanonical(page + cell.record, count: cell.size, form) else { break }
                }
                if isTable { last = cell.rowid }
                (target + written).copyMemory(from: page + start, byteCount: end - start)
                written += end - start
                used += taken
                place = (index + 1, used, last)
                index += 1
            }
        }
        return written
    }

    /// Bytes for cells.
    var room: Int { geometry.usableSize - pointers - 2 * cellCount }

    private func cellStart(_ index: Int) throws(StoreFlaw) -> Int {
        let pointer = pointers + 2 * index
        let start = Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])
        // 4 is the least that a cell takes.
        guard start >= pointers + 2 * cellCount, start + 4 <= geometry.usableSize else {
            throw .page(number, .cell(index))
        }
        return start
    }

    private func word(at offset: Int) -> UInt32 {
        UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
            | UInt32(bytes[offset + 3])
    }
}
