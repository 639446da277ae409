/// Predicts the items of a block one after the other, as its compressor would have found them.
///
/// Each step goes through the bytes of its item, so that a block takes time in proportion to its size, whatever its corrections say.
///
/// Source: `Protocol/BLOCKS.md` 3.
struct BlockParse {
    private let block: ArraySlice<UInt8>
    private let parser: BlockParser
    private let bits: Int
    private var table: [Int32]
    private var exactTable: [UInt32: Int32] = [:]
    /// Where the next item begins. All places count from the beginning of the block.
    private(set) var start = 0
    private var isFirst = true
    /// The entry that the table had before the current prediction; `nil` if nobody will want it back.
    private var undo: [(entry: UInt32, place: Int32)]?

    var count: Int { block.count }

    init(_ block: ArraySlice<UInt8>, _ parser: BlockParser) {
        (self.block, self.parser) = (block, parser)
        let fitting = max(8, Int.bitWidth - max(0, block.count - 1).leadingZeroBitCount)
        bits =
            switch parser.table {
            case .product(_, let bits, let fits): fits ? min(bits, fitting) : bits
            case .maskedProduct(_, let bits): min(bits, fitting)
            case .longProduct(_, let bits): bits
            case .exact: 0
            }
        table = bits == 0 ? [] : [Int32](repeating: -1, count: 1 << bits)
        _ = look(0)
    }

    /// The item that the compressor finds next, if nothing is to be corrected; enough is as good as any longer match.
    mutating func predicted(upTo enough: Int = .max) -> BlockItem {
        var positions = Positions(from: start, isFirst: isFirst, parser.steps)
        while true {
            let (place, next) = positions.take()
            guard next <= count - parser.margin else {
                return BlockItem(literals: count - start, length: 0, distance: 0)
            }
            guard let found = look(place), place - found <= BlockParser.farthest, word(found) == word(place) else {
                continue
            }
            var (begin, earlier) = (place, found)
            while parser.goesBack, begin > start, earlier > 0, byte(begin - 1) == byte(earlier - 1) {
                begin -= 1
                earlier -= 1
            }
            let length = place - begin + longest(place, found, upTo: enough)
            return BlockItem(literals: begin - start, length: length, distance: place - found)
        }
    }

    /// - Returns: The same, or `nil` if `item` is something else: then it is as if nothing had been predicted.
    mutating func predicts(_ item: BlockItem) -> Bool {
        undo = []
        defer { undo = nil }
        // One byte more shows that it is another item.
        if predicted(upTo: item.length + 1) == item { return true }
        for (entry, place) in (undo ?? []).reversed() { set(entry, place) }
        return false
    }

    /// The item in place of the one that would be predicted.
    ///
    /// - Returns: `nil` if the correction cannot be.
    mutating func item(of correction: BlockCorrection) -> BlockItem? {
        guard let literals = Int(exactly: correction.literals), literals >= 0, literals <= count - start,
            let length = Int(exactly: correction.length), length >= 0, length <= count,
            let distance = Int(exactly: correction.distance), distance >= 0, distance <= BlockParser.farthest
        else { return nil }
        let begin = start + literals
        guard begin < count else {
            return length == 0 && distance == 0 ? BlockItem(literals: literals, length: 0, distance: 0) : nil
        }
        let candidate = reach(begin)
        guard let far = distance > 0 ? distance : candidate.map({ begin - $0 }), far > 0, far <= begin,
            far <= BlockParser.farthest
        else { return nil }
        let known = length > 0 ? length : longest(begin, begin - far)
        guard known > 0, known <= count - begin else { return nil }
        return BlockItem(literals: literals, length: known, distance: far)
    }

    /// The correction that leads to an item which is not predicted. `item(of:)` does the same with it.
    mutating func correction(for item: BlockItem, before: Int) -> BlockCorrection {
        let begin = start + item.literals
        var (length, distance) = (item.length, item.distance)
        if length > 0 {
            if let found = reach(begin), begin - found == distance { distance = 0 }
            if longest(begin, begin - item.distance, upTo: length + 1) == length { length = 0 }
        }
        return BlockCorrection(
            before: Int64(before), literals: Int64(item.literals), length: Int64(length), distance: Int64(distance))
    }

    /// Goes to the end of an item's match.
    mutating func pass(_ item: BlockItem) {
        let begin = start + item.literals
        start = begin + item.length
        isFirst = false
        switch parser.entered {
        case .none: break
        case .all: for place in begin + 1..<max(begin + 1, start) { _ = look(place) }
        case .nearEnd(let distance): if start >= distance { _ = look(start - distance) }
        }
    }

    /// Enters the positions that are looked at up to one, and this one itself.
    ///
    /// - Returns: What the table had for the last.
    private mutating func reach(_ begin: Int) -> Int? {
        var positions = Positions(from: start, isFirst: isFirst, parser.steps)
        var place = positions.take().place
        while place < begin {
            _ = look(place)
            place = positions.take().place
        }
        return look(begin).flatMap { $0 < begin ? $0 : nil }
    }

    /// - Parameter enough: How many bytes to compare, at most.
    private func longest(_ place: Int, _ earlier: Int, upTo enough: Int = .max) -> Int {
        guard earlier >= 0 else { return 0 }
        let limit = place + min(enough, count - parser.unmatched - place)
        var end = place
        while end < limit, byte(end) == byte(earlier + end - place) { end += 1 }
        return end - place
    }

    private func byte(_ place: Int) -> UInt8 { block[block.startIndex + place] }

    private func word(_ place: Int) -> UInt32 {
        UInt32(littleEndian: block.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) })
    }

    /// Enters a position.
    ///
    /// - Returns: The position that its entry had. A position too near to the end has no entry.
    private mutating func look(_ place: Int) -> Int? {
        let entry: UInt32
        switch parser.table {
        case .longProduct(let factor, _):
            guard place + 5 <= count else { return nil }
            let bytes = (UInt64(word(place)) | UInt64(byte(place + 4)) << 32) << 24
            entry = UInt32(truncatingIfNeeded: (bytes &* factor) >> UInt64(64 - bits))
        case .product(let factor, _, _):
            guard place + 4 <= count else { return nil }
            entry = (word(place) &* factor) >> UInt32(32 - bits)
        case .maskedProduct(let factor, let most):
            guard place + 4 <= count else { return nil }
            entry = ((word(place) &* factor) >> UInt32(32 - most)) & (1 << UInt32(bits) - 1)
        case .exact:
            guard place + 4 <= count else { return nil }
            entry = word(place)
        }
        let before = bits == 0 ? exactTable[entry] ?? -1 : table[Int(entry)]
        undo?.append((entry, before))
        set(entry, Int32(truncatingIfNeeded: place))
        return before < 0 ? nil : Int(before)
    }

    private mutating func set(_ entry: UInt32, _ place: Int32) {
        if bits == 0 { exactTable[entry] = place < 0 ? nil : place } else { table[Int(entry)] = place }
    }
}

/// Positions that are looked at, one after the other.
private struct Positions {
    private var place: Int
    private let steps: BlockParser.Steps
    /// After a match the position at its end comes first, and does not count.
    private var isAtEnd: Bool
    private var count: Int

    init(from start: Int, isFirst: Bool, _ steps: BlockParser.Steps) {
        place = isFirst ? start + 1 : start
        isAtEnd = !isFirst
        self.steps = steps
        count = steps == .growing ? 32 : 63
    }

    /// - Returns: A position, and the next one.
    mutating func take() -> (place: Int, next: Int) {
        let place = place
        var step = 1
        if isAtEnd {
            isAtEnd = false
        } else {
            switch steps {
            case .ones: break
            case .growing:
                step = count >> 5
                count += step
            case .rising:
                step = max(1, count >> 6)
                count += 1
            }
        }
        self.place += step
        return (place, self.place)
    }
}
