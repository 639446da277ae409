/// Writes tokens as the blocks of a raw deflate stream, each as the type that takes the fewest bits.
///
/// Source: RFC 1951 section 3.2.
struct DeflateWriter {
    /// The complete bytes that are written.
    private(set) var stream: [UInt8] = []
    /// Bits that make no complete byte yet, the first one lowest.
    private var held: UInt64 = 0
    private var heldCount = 0

    init(capacity: Int) { stream.reserveCapacity(capacity) }

    /// - Parameters:
    ///   - tokens: All of the block.
    ///   - bytes: What they stand for.
    mutating func write(_ tokens: ArraySlice<DeflateToken>, of bytes: ArraySlice<UInt8>, isLast: Bool) {
        let counts = TokenCounts(tokens)
        let codes = BlockCodes.best(for: counts)
        let dynamic = codes.bits(counts)
        let fixed = Self.fixedBits(counts)
        let isStored = Self.storedBits(bytes.count) < min(dynamic, fixed) + counts.extraBits
        write(tokens, fixed <= dynamic ? nil : codes, storing: isStored ? bytes : nil, isLast: isLast)
    }

    /// - Parameters:
    ///   - codes: `nil` for the fixed ones.
    ///   - bytes: Stored in place of the tokens.
    mutating func write(
        _ tokens: ArraySlice<DeflateToken>, _ codes: BlockCodes?, storing bytes: ArraySlice<UInt8>?, isLast: Bool
    ) {
        if let bytes {
            writeStored(bytes, isLast: isLast)
        } else if let codes {
            writeHead(.dynamic, isLast: isLast)
            for (value, count) in codes.head { write(value, count) }
            write(tokens, codes.symbols, codes.distances)
        } else {
            writeHead(.fixed, isLast: isLast)
            write(tokens, Self.fixed.symbols, Self.fixed.distances)
        }
        if isLast { fillByte() }
    }

    // MARK: Each type

    private static let fixed = (
        symbols: HuffmanCode(lengths: DeflateFormat.fixedSymbols),
        distances: HuffmanCode(lengths: DeflateFormat.fixedDistances)
    )

    /// How many bits the codes of tokens take in a block of fixed codes.
    static func fixedBits(_ counts: TokenCounts) -> Int {
        fixed.symbols.bits(counts.symbols) + fixed.distances.bits(counts.distances)
    }

    /// At most, without the three bits that each block begins with.
    private static func storedBits(_ count: Int) -> Int {
        let blocks = max(1, (count + DeflateFormat.longestStored - 1) / DeflateFormat.longestStored)
        return count * 8 + blocks * (32 + 7) + (blocks - 1) * 3
    }

    private mutating func writeHead(_ kind: DeflateBlockKind, isLast: Bool) {
        write(isLast ? 1 : 0, 1)
        write(kind.rawValue, 2)
    }

    /// A stream of bytes as they are.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var writer = DeflateWriter(capacity: bytes.count + 16)
        writer.write([], nil, storing: bytes[...], isLast: true)
        return writer.stream
    }

    private mutating func writeStored(_ bytes: ArraySlice<UInt8>, isLast: Bool) {
        var left = bytes
        repeat {
            let part = left.prefix(DeflateFormat.longestStored)
            left = left.dropFirst(part.count)
            writeHead(.stored, isLast: isLast && left.isEmpty)
            let size = UInt16(part.count)
            write([size, ~size].flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] })
            write(part)
        } while !left.isEmpty
    }

    private mutating func write(_ tokens: ArraySlice<DeflateToken>, _ symbols: HuffmanCode, _ distances: HuffmanCode) {
        for token in tokens {
            write(UInt64(symbols.codes[token.symbol]), Int(symbols.lengths[token.symbol]))
            guard token.isMatch else { continue }
            let (length, distance) = token.extra
            write(token.lengthBits, length)
            write(UInt64(distances.codes[token.distanceCode]), Int(distances.lengths[token.distanceCode]))
            write(token.distanceBits, distance)
        }
        write(UInt64(symbols.codes[DeflateFormat.endOfBlock]), Int(symbols.lengths[DeflateFormat.endOfBlock]))
    }

    // MARK: Bits

    /// Writes at most 16 bits. The first bit is the lowest of a byte.
    @inline(__always)
    private mutating func write(_ value: UInt64, _ count: Int) {
        held |= value &<< UInt64(heldCount)
        heldCount &+= count
        while heldCount >= 8 {
            stream.append(UInt8(truncatingIfNeeded: held))
            held &>>= 8
            heldCount &-= 8
        }
    }

    /// Writes zeros up to the next byte.
    private mutating func fillByte() {
        if heldCount > 0 { write(0, 8 - heldCount) }
    }

    /// Writes complete bytes, from the next byte on.
    private mutating func write(_ bytes: some Sequence<UInt8>) {
        fillByte()
        stream += bytes
    }
}
