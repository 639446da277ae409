import ShipCompression

/// Strings that are blocks of Snappy or LZ4, or hold one: what the blocks stand for, and what makes them again.
///
/// Source: `Protocol/BLOCKS.md`.
struct BlockStrings {
    /// By string: what made it, or 0 for one that goes as it is.
    private(set) var ways: [Int64] = []
    private(set) var contents = Strings()
    /// How many corrections each block has, and all of them.
    private(set) var counts: [Int64] = []
    private(set) var corrections: [BlockCorrection] = []
    /// The bytes before and behind the blocks that stand inside strings.
    private(set) var heads = Strings()
    private(set) var tails = Strings()
    /// The room that they took of the segment.
    private(set) var taken = StreamRoom.none

    /// - Parameter cost: Limits how much they may grow.
    /// - Returns: `nil` if no string is or holds a block that can be made again.
    init?(_ strings: Strings, within cost: TrialCost) {
        var hint: BlockWay?
        for index in 0..<strings.count {
            let string = strings[index]
            let limit = min(
                SegmentLimits.deflatedString, cost.room.content - taken.content,
                string.count + max(0, cost.room.growth - taken.growth))
            guard let found = FoundBlock(in: string, limit: limit),
                let (way, corrections) = found.repetition(in: string, hint: hint)
            else {
                ways.append(0)
                contents.append(string)
                continue
            }
            taken.add(found.content.bytes, of: string)
            hint = way
            ways.append(way.number)
            contents.append(found.content.bytes)
            counts.append(Int64(corrections.count))
            self.corrections += corrections
            guard way.isInside else { continue }
            heads.append(string[..<found.place.lowerBound])
            tails.append(string[found.place.upperBound...])
        }
        guard !counts.isEmpty else { return nil }
        cost.room -= taken
    }

    /// Whether strings look as if taking them apart paid: of some, one in four has a block that is smaller than what it stands for.
    static func arePromising(_ strings: Strings, _ looked: some Sequence<Int>) -> Bool {
        var (seen, found) = (0, 0)
        for index in looked {
            seen += 1
            if FoundBlock.growth(of: strings[index]) > 0 { found += 1 }
        }
        return found > 0 && found * 4 >= seen
    }
}

extension ColumnEncoder {
    /// - Returns: `false` if no string is or holds a block.
    func writeBlocks(_ strings: Strings, _ depth: Int, _ areas: inout SegmentAreas) -> Bool {
        guard let blocks = BlockStrings(strings, within: cost) else { return false }
        areas.streams += blocks.taken
        encode(blocks.ways, depth: depth + 1, into: &areas)
        encode(blocks.contents, depth: depth + 1, into: &areas)
        encode(blocks.counts, depth: depth + 1, into: &areas)
        for field in [\BlockCorrection.before, \.literals, \.length, \.distance] {
            encode(blocks.corrections.map { $0[keyPath: field] }, depth: depth + 1, into: &areas)
        }
        encode(blocks.heads, depth: depth + 1, into: &areas)
        encode(blocks.tails, depth: depth + 1, into: &areas)
        return true
    }
}

extension ColumnDecoder {
    /// Makes blocks again, alone or between a head and a tail; other strings stay as they are.
    func blocks(_ count: Int, _ depth: Int, from source: inout SegmentReader) throws(CompressionError) -> Strings {
        let numbers = try integers(count, depth: depth + 1, from: &source)
        let contents = try self.strings(count, depth: depth + 1, from: &source)
        var ways: [BlockWay?] = []
        for number in numbers {
            let way = BlockWay(number)
            guard way != nil || number == 0 else { throw .damaged(.segment) }
            ways.append(way)
        }
        let counts = try integers(ways.count { $0 != nil }, depth: depth + 1, from: &source)
        let sizes = ways.indices.filter { ways[$0] != nil }.map { contents[$0].count }
        for (count, size) in zip(counts, sizes) {
            try source.spend(deflated: size)
            guard count >= 0, count <= Int64(size / BlockCorrection.bytes) else { throw .damaged(.segment) }
        }
        let corrected = counts.reduce(0) { $0 + Int($1) }
        let befores = try integers(corrected, depth: depth + 1, from: &source)
        let literals = try integers(corrected, depth: depth + 1, from: &source)
        let lengths = try integers(corrected, depth: depth + 1, from: &source)
        let distances = try integers(corrected, depth: depth + 1, from: &source)
        let inside = ways.count { $0?.isInside == true }
        let heads = try self.strings(inside, depth: depth + 1, from: &source)
        let tails = try self.strings(inside, depth: depth + 1, from: &source)
        var strings = Strings()
        var (place, block, next) = (0, 0, 0)
        for (index, way) in ways.enumerated() {
            let content = contents[index]
            guard let way else {
                try source.spend(bytes: content.count)
                strings.append(content)
                continue
            }
            let range = next..<next + Int(counts[block])
            (block, next) = (block + 1, range.upperBound)
            let corrections = range.map {
                BlockCorrection(
                    before: befores[$0], literals: literals[$0], length: lengths[$0], distance: distances[$0])
            }
            guard let string = way.string(of: content, corrections[...]) else { throw .damaged(.segment) }
            let (head, tail) = way.isInside ? (heads[place], tails[place]) : ([], [])
            if way.isInside { place += 1 }
            try source.spend(bytes: head.count + string.count + tail.count)
            strings.append(head + string + tail)
        }
        return strings
    }
}
