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
    private let pointers: Int

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
                // The varints have at most 2 and 9 bytes; and 4 is the least that a cell takes.
                guard start >= lowest, start + (isTable ? 11 : 4) <= usableSize else { break }
                var position = start + 1
                var size = Int(page[start])
                if size >= 0x80 {
                    guard page[position] < 0x80, size > 0x80 else { break }
                    size = (size & 0x7F) << 7 | Int(page[position])
                    position += 1
                }
                guard size <= mostLocal else { break }
                if isTable {
                    let first = position
                    var rowid: UInt64 = 0
                    while position < first + 8, page[position] >= 0x80 {
                        rowid = rowid << 7 | UInt64(page[position] & 0x7F)
                        position += 1
                    }
                    rowid =
                        position < first + 8
                        ? rowid << 7 | UInt64(page[position]) : rowid << 8 | UInt64(page[position])
                    position += 1
                    let value = Int64(bitPattern: rowid)
                    guard position - first == Varint.length(of: rowid), last.map({ $0 < value }) ?? true else { break }
                    last = value
                }
                let end = position + size
                let taken = max(4, end - start)
                guard end <= usableSize, used + taken <= room, written + end - start <= output.count else { break }
                if let form {
                    guard CanonicalRecord.isShortAndCanonical(page + position, count: size, form) else { break }
                }
                (target + written).copyMemory(from: page + start, byteCount: end - start)
                written += end - start
                used += taken
                place = (index + 1, used, last)
                index += 1
            }
        }
        return written
    }

    /// Whether the page holds all of its cells' records.
    func isSelfContained() throws(StoreFlaw) -> Bool {
        for index in 0..<cellCount {
            guard try cell(index).overflow == 0 else { return false }
        }
        return true
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
