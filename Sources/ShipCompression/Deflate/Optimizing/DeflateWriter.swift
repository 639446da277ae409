/// Writes tokens as the blocks of a raw deflate stream, each in the way that takes the fewest bits.
///
/// Source: RFC 1951 section 3.2.
struct DeflateWriter {
    var bits: DeflateBits

    /// - Parameter capacity: Bytes, for which there is room at once.
    init(capacity: Int) { bits = DeflateBits(capacity: capacity) }

    /// What is written, as far as it is whole bytes.
    var stream: [UInt8] { bits.bytes }

    /// - Parameters:
    ///   - tokens: All of the block.
    ///   - bytes: What they stand for.
    mutating func write(_ tokens: ArraySlice<DeflateToken>, of bytes: ArraySlice<UInt8>, isLast: Bool) {
        let counts = TokenCounts(tokens)
        let codes = BlockCodes.best(for: counts)
        let dynamic = codes.bits(counts)
        let fixed = Self.fixedBits(counts)
        let stored = Self.storedBits(bytes.count)
        if stored < min(dynamic, fixed) + counts.extraBits {
            writeStored(bytes, isLast: isLast)
        } else if fixed <= dynamic {
            writeFixed(tokens, isLast: isLast)
        } else {
            writeDynamic(tokens, codes, isLast: isLast)
        }
        if isLast { bits.fillByte() }
    }

    // MARK: Each way

    private static let fixed = (
        symbols: HuffmanCode(lengths: DeflateFormat.fixedSymbols),
        distances: HuffmanCode(lengths: DeflateFormat.fixedDistances)
    )

    /// What all codes of such tokens take in a block of fixed codes.
    static func fixedBits(_ counts: TokenCounts) -> Int {
        fixed.symbols.bits(counts.symbols) + fixed.distances.bits(counts.distances)
    }

    mutating func writeFixed(_ tokens: ArraySlice<DeflateToken>, isLast: Bool) {
        writeHead(.fixed, isLast: isLast)
        write(tokens, Self.fixed.symbols, Self.fixed.distances)
    }

    mutating func writeDynamic(_ tokens: ArraySlice<DeflateToken>, _ codes: BlockCodes, isLast: Bool) {
        writeHead(.dynamic, isLast: isLast)
        for (value, count) in codes.head { bits.write(value, count) }
        write(tokens, codes.symbols, codes.distances)
    }

    /// At most, without the three bits that each block begins with.
    private static func storedBits(_ count: Int) -> Int {
        let blocks = max(1, (count + DeflateFormat.longestStored - 1) / DeflateFormat.longestStored)
        return count * 8 + blocks * (32 + 7) + (blocks - 1) * 3
    }

    private mutating func writeHead(_ kind: DeflateBlockKind, isLast: Bool) {
        bits.write(isLast ? 1 : 0, 1)
        bits.write(kind.rawValue, 2)
    }

    mutating func writeStored(_ bytes: ArraySlice<UInt8>, isLast: Bool) {
        var left = bytes
        repeat {
            let part = left.prefix(DeflateFormat.longestStored)
            left = left.dropFirst(part.count)
            writeHead(.stored, isLast: isLast && left.isEmpty)
            let size = UInt16(part.count)
            bits.write([size, ~size].flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] })
            bits.write(part)
        } while !left.isEmpty
    }

    private mutating func write(
        _ tokens: ArraySlice<DeflateToken>, _ symbols: HuffmanCode, _ distances: HuffmanCode
    ) {
        for token in tokens {
            bits.write(UInt64(symbols.codes[token.symbol]), Int(symbols.lengths[token.symbol]))
            guard token.isMatch else { continue }
            let (length, distance) = token.extra
            bits.write(token.lengthBits, length)
            bits.write(UInt64(distances.codes[token.distanceCode]), Int(distances.lengths[token.distanceCode]))
            bits.write(token.distanceBits, distance)
        }
        bits.write(UInt64(symbols.codes[DeflateFormat.endOfBlock]), Int(symbols.lengths[DeflateFormat.endOfBlock]))
    }
}
