/// The content of a block of Snappy or LZ4, and its items.
///
/// Sources: `format_description.txt` of Snappy, and `lz4_Block_format.md` of LZ4.
struct BlockContent {
    private(set) var bytes: [UInt8] = []
    private var items: [BlockItem] = []
    private var literals = 0

    /// - Parameter limit: The most bytes that it may stand for.
    /// - Returns: `nil` unless the bytes are a block to the last.
    init?(snappy block: ArraySlice<UInt8>, limit: Int) {
        var rest = block
        var (size, shift) = (0, 0)
        while let byte = rest.popFirst() {
            size |= Int(byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 { break }
            guard shift < 28 else { return nil }
        }
        guard size > 0, size <= limit else { return nil }
        while let tag = rest.popFirst() {
            switch tag & 3 {
            case 0:
                var length = Int(tag >> 2)
                if length >= 60 {
                    guard let long = Self.number(length - 59, &rest) else { return nil }
                    length = long
                }
                guard take(length + 1, &rest, limit: size) else { return nil }
            case 1:
                guard let low = rest.popFirst(),
                    copy(Int(tag >> 2 & 7) + 4, Int(tag >> 5) << 8 | Int(low), limit: size)
                else { return nil }
            case 2:
                guard let distance = Self.number(2, &rest), copy(Int(tag >> 2) + 1, distance, limit: size) else {
                    return nil
                }
            default: return nil
            }
        }
        guard bytes.count == size else { return nil }
    }

    /// - Parameter limit: The most bytes that it may stand for.
    /// - Returns: `nil` unless the bytes are a block to the last.
    init?(lz4 block: ArraySlice<UInt8>, limit: Int) {
        var rest = block
        while let token = rest.popFirst() {
            guard let literals = Self.length(Int(token >> 4), &rest), take(literals, &rest, limit: limit) else {
                return nil
            }
            if rest.isEmpty {
                guard token & 15 == 0 else { return nil }
                return
            }
            guard let distance = Self.number(2, &rest), let length = Self.length(Int(token & 15), &rest),
                copy(length + 4, distance, limit: limit, merges: false)
            else { return nil }
        }
        // The last item of a block has no match.
        return nil
    }

    var hasMatches: Bool { !items.isEmpty }

    /// The items, block by block.
    ///
    /// - Parameter size: Bytes of a block; `nil` for one.
    /// - Returns: `nil` if a match goes from one block into the next, or back into the one before.
    func blocks(of size: Int?) -> [[BlockItem]]? {
        guard let size else { return [items + [BlockItem(literals: literals, length: 0, distance: 0)]] }
        var blocks: [[BlockItem]] = []
        var block: [BlockItem] = []
        var left = min(size, bytes.count)
        var (begin, place) = (0, 0)
        func end(_ literals: Int) {
            blocks.append(block + [BlockItem(literals: literals, length: 0, distance: 0)])
            block = []
            place += left
            begin = place
            left = min(size, bytes.count - place)
        }
        for item in items {
            var literals = item.literals
            while literals >= left {
                literals -= left
                end(left)
            }
            guard literals + item.length <= left, item.distance <= place - begin + literals else { return nil }
            block.append(BlockItem(literals: literals, length: item.length, distance: item.distance))
            left -= literals + item.length
            place += literals + item.length
        }
        var literals = literals
        repeat {
            let here = min(literals, left)
            literals -= here
            end(here)
        } while left > 0
        return blocks
    }

    private mutating func take(_ count: Int, _ rest: inout ArraySlice<UInt8>, limit: Int) -> Bool {
        guard count <= rest.count, count <= limit - bytes.count else { return false }
        bytes += rest.prefix(count)
        rest = rest.dropFirst(count)
        literals += count
        return true
    }

    /// - Parameter merges: Whether it may go on with the copy before, if there is nothing between them.
    private mutating func copy(_ length: Int, _ distance: Int, limit: Int, merges: Bool = true) -> Bool {
        guard distance > 0, distance <= bytes.count, length <= limit - bytes.count else { return false }
        let start = bytes.count - distance
        // A slice of itself would have all of them copied.
        for place in start..<start + length { bytes.append(bytes[place]) }
        if merges, literals == 0, let last = items.last, last.distance == distance {
            items[items.count - 1] = BlockItem(
                literals: last.literals, length: last.length + length, distance: distance)
        } else {
            items.append(BlockItem(literals: literals, length: length, distance: distance))
        }
        literals = 0
        return true
    }

    private static func number(_ width: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
        guard rest.count >= width else { return nil }
        defer { rest = rest.dropFirst(width) }
        return rest.prefix(width).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func length(_ first: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
        var length = first
        guard first == 15 else { return length }
        while let byte = rest.popFirst() {
            length += Int(byte)
            if byte < 255 { return length }
        }
        return nil
    }
}
