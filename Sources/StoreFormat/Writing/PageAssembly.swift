/// A page of a tree that is being filled, with cells in the order of their keys.
///
/// Source: `Protocol/CANONICAL.md` section 5.
struct PageAssembly {
    /// The page, without the fields that `finish` writes; unused bytes are zeros.
    private(set) var bytes: [UInt8]
    private(set) var count = 0
    /// First pages of the overflow chains, with the index of their cell.
    private(set) var chains: [(cell: Int, page: UInt32)] = []
    private let usableSize: Int
    /// Where the pointers begin: behind the header.
    private let pointers: Int
    /// Where the last cell begins.
    private var start: Int
    /// Bytes of the last cell.
    private var lastLength = 0

    /// Bytes of a page's header.
    private static let (leafHeader, interiorHeader) = (8, 12)

    init(isLeaf: Bool, _ geometry: PageGeometry) {
        bytes = Array(repeating: 0, count: geometry.pageSize)
        usableSize = geometry.usableSize
        pointers = isLeaf ? Self.leafHeader : Self.interiorHeader
        start = geometry.usableSize
    }

    var isEmpty: Bool { count == 0 }
    /// Bytes that header and cells take, pointers included.
    var used: Int { pointers + usableSize - start + 2 * count }

    /// Whether a cell of a length has room.
    func fits(_ length: Int) -> Bool { used + max(4, length) + 2 <= usableSize }

    /// - Parameter cell: Has room.
    mutating func append(_ cell: UnsafeRawBufferPointer) {
        make(room: cell.count) { place in
            guard let bytes = cell.baseAddress else { return }
            place.copyMemory(from: bytes, byteCount: cell.count)
        }
    }

    /// - Parameter cell: Has room, with the child's number if there is one.
    mutating func append(_ cell: TreeWriterCell, child: UInt32? = nil) {
        if cell.chain != 0 { chains.append((count, cell.chain)) }
        cell.bytes.withUnsafeBytes { bytes in
            guard let child else { return append(bytes) }
            make(room: bytes.count + 4) { place in
                place.storeBytes(of: child.bigEndian, as: UInt32.self)
                guard let rest = bytes.baseAddress else { return }
                (place + 4).copyMemory(from: rest, byteCount: bytes.count)
            }
        }
    }

    /// Takes the cells of a leaf of the same geometry. It has none of its own.
    mutating func append(_ leaf: PackedLeaf) {
        precondition(isEmpty && bytes.count == leaf.bytes.count)
        bytes.withUnsafeMutableBytes { page in
            leaf.bytes.withUnsafeBytes { leafBytes in
                for range in [pointers..<(pointers + 2 * leaf.count), leaf.start..<usableSize] {
                    UnsafeMutableRawBufferPointer(rebasing: page[range])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: leafBytes[range]))
                }
            }
        }
        (count, start, lastLength) = (leaf.count, leaf.start, leaf.lengths.last)
    }

    private mutating func make(room length: Int, _ fill: (UnsafeMutableRawPointer) -> Void) {
        precondition(fits(length))
        start -= max(4, length)
        let (start, pointer) = (start, pointers + 2 * count)
        bytes.withUnsafeMutableBytes { page in
            guard let page = page.baseAddress else { return }
            fill(page + start)
            (page + pointer).storeBytes(of: UInt16(truncatingIfNeeded: start).bigEndian, as: UInt16.self)
        }
        lastLength = length
        count += 1
    }

    /// Removes the last cell; at most once, and not the first one.
    ///
    /// - Returns: The cell, of an interior page with its child.
    mutating func removeLast() -> (cell: TreeWriterCell, child: UInt32)? {
        guard count > 1 else { return nil }
        let cell = Array(bytes[start..<(start + lastLength)])
        let isInterior = pointers == Self.interiorHeader
        let hasChain = chains.last?.cell == count - 1
        let chain = hasChain ? chains.removeLast().page : 0
        count -= 1
        let pointer = pointers + 2 * count
        bytes.replaceSubrange(pointer..<(pointer + 2), with: [0, 0])
        let size = max(4, lastLength)
        bytes.replaceSubrange(start..<(start + size), with: repeatElement(0, count: size))
        start += size
        return (
            TreeWriterCell(bytes: isInterior ? Array(cell.dropFirst(4)) : cell, chain: chain),
            isInterior ? cell.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } : 0
        )
    }

    /// Makes it a page without cells.
    mutating func removeAll() {
        bytes.withUnsafeMutableBytes { page in
            guard let start = page.baseAddress else { return }
            start.initializeMemory(as: UInt8.self, repeating: 0, count: page.count)
        }
        chains.removeAll(keepingCapacity: true)
        (count, start, lastLength) = (0, usableSize, 0)
    }

    /// Children of an interior page, without the right-most.
    var children: [UInt32] {
        (0..<count).map { index in
            let pointer = pointers + 2 * index
            let start = Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1])
            return bytes[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// Writes the header.
    ///
    /// - Parameters:
    ///   - type: The first byte of the header.
    ///   - rightChild: Of an interior page.
    mutating func finish(type: UInt8, rightChild: UInt32?) {
        bytes[0] = type
        bytes[3] = UInt8(truncatingIfNeeded: count >> 8)
        bytes[4] = UInt8(truncatingIfNeeded: count)
        bytes[5] = UInt8(truncatingIfNeeded: start >> 8)
        bytes[6] = UInt8(truncatingIfNeeded: start)
        guard let rightChild else { return }
        for index in 0..<4 { bytes[8 + index] = UInt8(truncatingIfNeeded: rightChild >> UInt32(24 - 8 * index)) }
    }

    /// Copies a finished page to page 1, behind the header of the file. The cells must leave room for that.
    func copyContent(behindHeaderOf page: inout [UInt8]) {
        let offset = DatabaseHeader.size
        let end = pointers + 2 * count
        page.replaceSubrange(offset..<(offset + end), with: bytes[..<end])
        page.replaceSubrange(start..<usableSize, with: bytes[start..<usableSize])
    }
}
