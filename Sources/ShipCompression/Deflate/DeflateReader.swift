/// The tokens of a raw deflate stream.
///
/// It trusts no stream: bytes that are no stream give no tokens. It checks codes only as far as reading needs to be safe. zlib gives no
/// tokens, which is why this reader is written by hand.
///
/// Source: RFC 1951 section 3.2.
struct DeflateReader {
    private let stream: [UInt8]
    private var place = 0
    /// The bits that come next, the first one lowest.
    private var held: UInt64 = 0
    private var heldCount = 0
    private var block = Block.none
    private var isLastBlock = false

    private enum Block {
        case none
        case stored(left: Int)
        case coded(HuffmanTable, HuffmanTable)
    }

    init(_ stream: [UInt8]) { self.stream = stream }

    private(set) var isAtEnd = false

    /// How many bytes were read, perhaps only a part of the last.
    var used: Int { place - heldCount / 8 }

    private var isInBlock: Bool {
        if case .none = block { false } else { true }
    }

    /// Appends the next tokens, until there are `count` tokens or the stream ends.
    ///
    /// - Returns: Whether it is a stream so far.
    mutating func fill(_ tokens: inout [DeflateToken], to count: Int) -> Bool {
        while tokens.count < count, !isAtEnd {
            guard step(&tokens, to: count) else { return false }
        }
        return true
    }

    /// Appends the tokens of the next block.
    ///
    /// - Parameter count: The most tokens, with those that are there already; a block that would bring more is not read to its end.
    /// - Returns: The block's type; `nil` if there is no block, or it is not read to its end.
    mutating func readBlock(_ tokens: inout [DeflateToken], to count: Int) -> DeflateBlockKind? {
        guard !isAtEnd, let kind = begin() else { return nil }
        while isInBlock {
            guard tokens.count < count, step(&tokens, to: count) else { return nil }
        }
        return kind
    }

    /// Reads the head of a block, or tokens.
    private mutating func step(_ tokens: inout [DeflateToken], to count: Int) -> Bool {
        switch block {
        case .none: return begin() != nil
        case .stored(let left):
            let size = min(left, count - tokens.count)
            guard stream.count - place >= size else { return false }
            tokens += stream[place..<(place + size)].lazy.map { DeflateToken(literal: $0) }
            place += size
            block = .stored(left: left - size)
            if left == size { end() }
            return true
        case .coded(let symbols, let distances): return read(&tokens, to: count, symbols, distances)
        }
    }

    private mutating func end() {
        block = .none
        isAtEnd = isLastBlock
    }

    /// - Returns: Whether all codes stand for something.
    private mutating func read(
        _ tokens: inout [DeflateToken], to count: Int, _ symbols: HuffmanTable, _ distances: HuffmanTable
    ) -> Bool {
        while tokens.count < count {
            // Enough for a match: 15 + 5 + 15 + 13 bits.
            hold(48)
            guard let symbol = take(symbols) else { return false }
            if symbol < DeflateFormat.endOfBlock {
                tokens.append(DeflateToken(literal: UInt8(truncatingIfNeeded: symbol)))
                continue
            }
            if symbol == DeflateFormat.endOfBlock {
                end()
                return true
            }
            guard symbol < DeflateFormat.symbols else { return false }
            guard let lengthBits = take(DeflateFormat.lengths[symbol - DeflateFormat.firstLength].extra),
                let distance = take(distances), distance < DeflateFormat.distances,
                let distanceBits = take(DeflateFormat.distanceExtra[distance])
            else { return false }
            tokens.append(
                DeflateToken(
                    symbol: symbol, lengthBits: lengthBits, distanceCode: distance, distanceBits: distanceBits))
        }
        return true
    }

    /// Reads the head of a block.
    ///
    /// - Returns: `nil` if there is none.
    private mutating func begin() -> DeflateBlockKind? {
        hold(3)
        guard let last = take(1), let kind = take(2).flatMap(DeflateBlockKind.init) else { return nil }
        isLastBlock = last == 1
        switch kind {
        case .stored:
            // The rest of a byte is skipped, and complete bytes that are held go back.
            place -= heldCount / 8
            (held, heldCount) = (0, 0)
            guard stream.count - place >= 4 else { return nil }
            let size = Int(stream[place]) | Int(stream[place + 1]) << 8
            guard size == ~(Int(stream[place + 2]) | Int(stream[place + 3]) << 8) & 0xffff else { return nil }
            place += 4
            block = .stored(left: size)
            if size == 0 { end() }
        case .fixed:
            block = .coded(Self.fixed.symbols, Self.fixed.distances)
        case .dynamic:
            guard let (symbols, distances) = readCodes() else { return nil }
            block = .coded(HuffmanTable(lengths: symbols), HuffmanTable(lengths: distances))
        }
        return kind
    }

    private static let fixed = (
        symbols: HuffmanTable(lengths: DeflateFormat.fixedSymbols),
        distances: HuffmanTable(lengths: DeflateFormat.fixedDistances)
    )

    /// Reads the lengths of the codes of a block.
    private mutating func readCodes() -> (symbols: [UInt8], distances: [UInt8])? {
        hold(14)
        guard let more = take(5), let distances = take(5), let codes = take(4) else { return nil }
        let symbolCount = Int(more) + 257
        var lengthCodes = [UInt8](repeating: 0, count: DeflateFormat.lengthCodeOrder.count)
        for code in DeflateFormat.lengthCodeOrder.prefix(Int(codes) + 4) {
            hold(3)
            guard let length = take(3) else { return nil }
            lengthCodes[code] = UInt8(length)
        }
        let table = HuffmanTable(lengths: lengthCodes)
        var lengths: [UInt8] = []
        let count = symbolCount + Int(distances) + 1
        while lengths.count < count {
            hold(14)
            guard let symbol = take(table) else { return nil }
            switch symbol {
            case 16:
                guard let last = lengths.last, let more = take(2) else { return nil }
                lengths += repeatElement(last, count: Int(more) + 3)
            case 17:
                guard let more = take(3) else { return nil }
                lengths += repeatElement(0, count: Int(more) + 3)
            case 18:
                guard let more = take(7) else { return nil }
                lengths += repeatElement(0, count: Int(more) + 11)
            default: lengths.append(UInt8(truncatingIfNeeded: symbol))
            }
        }
        guard lengths.count == count else { return nil }
        return (Array(lengths.prefix(symbolCount)), Array(lengths.dropFirst(symbolCount)))
    }

    // MARK: Bits

    /// Holds at least `count` bits, as far as the stream has them.
    @inline(__always)
    private mutating func hold(_ count: Int) {
        while heldCount < count, place < stream.count {
            held |= UInt64(stream[place]) << UInt64(heldCount)
            heldCount &+= 8
            place &+= 1
        }
    }

    /// - Parameter count: No more than the last call of `hold` asked for.
    @inline(__always)
    private mutating func take(_ count: Int) -> UInt64? {
        guard heldCount >= count else { return nil }
        defer {
            held &>>= UInt64(count)
            heldCount &-= count
        }
        return held & (1 &<< UInt64(count) &- 1)
    }

    @inline(__always)
    private mutating func take(_ table: HuffmanTable) -> Int? {
        let (symbol, length) = table.symbol(held)
        guard length > 0, heldCount >= length else { return nil }
        held &>>= UInt64(length)
        heldCount &-= length
        return symbol
    }
}
