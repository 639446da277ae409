/// The cells of a page that is being filled, in the order of their keys.
struct PageAssembly {
    private(set) var cells: [UInt8] = []
    private var starts: [Int] = []
    /// First pages of the overflow chains, with the index of their cell.
    private(set) var chains: [(cell: Int, page: UInt32)] = []
    /// Bytes that the cells take, pointers included.
    private(set) var used = 0

    var count: Int { starts.count }
    var isEmpty: Bool { starts.isEmpty }

    /// Bytes that a cell of a length takes, its pointer included.
    static func room(forCell length: Int) -> Int { max(4, length) + 2 }

    mutating func append(_ cell: TreeWriterCell, child: UInt32? = nil) {
        starts.append(cells.count)
        if let child { withUnsafeBytes(of: child.bigEndian) { cells.append(contentsOf: $0) } }
        cell.bytes.withUnsafeBufferPointer { cells.append(contentsOf: $0) }
        if cell.chain != 0 { chains.append((starts.count - 1, cell.chain)) }
        used += Self.room(forCell: cell.bytes.count + (child == nil ? 0 : 4))
    }

    /// - Returns: The last cell, of an interior page with its child.
    mutating func removeLast(ofInterior: Bool) -> (cell: TreeWriterCell, child: UInt32)? {
        guard let start = starts.popLast() else { return nil }
        let bytes = cells[start...]
        let child = ofInterior ? bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } : 0
        let hasChain = chains.last?.cell == starts.count
        let chain = hasChain ? chains.removeLast().page : 0
        let cell = TreeWriterCell(bytes: Array(ofInterior ? bytes.dropFirst(4) : bytes), chain: chain)
        used -= Self.room(forCell: bytes.count)
        cells.removeSubrange(start...)
        return (cell, child)
    }

    mutating func removeAll() {
        cells.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        chains.removeAll(keepingCapacity: true)
        used = 0
    }

    /// Children of an interior page, without the right-most.
    var children: [UInt32] {
        starts.map { start in cells[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// Writes header, pointers and cells into a page of zeros.
    ///
    /// - Parameters:
    ///   - type: The first byte of the page's header.
    ///   - rightChild: Of an interior page.
    ///   - offset: Where the page's header begins: 100 in page 1.
    /// Source: `Protocol/CANONICAL.md` section 5.
    func write(into page: inout [UInt8], type: UInt8, rightChild: UInt32?, usableSize: Int, offset: Int) {
        page[offset] = type
        page[offset + 3] = UInt8(truncatingIfNeeded: count >> 8)
        page[offset + 4] = UInt8(truncatingIfNeeded: count)
        var pointer = offset + 8
        if let rightChild {
            withUnsafeBytes(of: rightChild.bigEndian) { page.replaceSubrange(pointer..<(pointer + 4), with: $0) }
            pointer += 4
        }
        var start = usableSize
        page.withUnsafeMutableBytes { page in
            cells.withUnsafeBytes { cells in
                for index in starts.indices {
                    let end = index + 1 < starts.count ? starts[index + 1] : cells.count
                    let length = end - starts[index]
                    start -= max(4, length)
                    page[start..<(start + length)].copyBytes(from: cells[starts[index]..<end])
                    page[pointer] = UInt8(truncatingIfNeeded: start >> 8)
                    page[pointer + 1] = UInt8(truncatingIfNeeded: start)
                    pointer += 2
                }
            }
            page[offset + 5] = UInt8(truncatingIfNeeded: start >> 8)
            page[offset + 6] = UInt8(truncatingIfNeeded: start)
        }
    }
}

/// A cell without its child, as it was placed.
struct TreeWriterCell {
    var bytes: [UInt8]
    /// The first page of its overflow chain; 0 if there is none.
    var chain: UInt32
}
