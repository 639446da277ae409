/// Makes a deflate stream once more, to the last bit as zlib made it, whatever zlib is installed.
///
/// Source: `Protocol/DEFLATE.md`. Vectors: `Protocol/Vectors/deflate_*`.
struct RepeatedDeflate: ~Copyable {
    private let content: [UInt8]
    private let parameters: DeflateParameters
    private var parse: RepeatedTokens
    private var writer: DeflateWriter
    /// Where the bytes of the block begin.
    private var start = 0

    /// - Parameter content: Below 2 GiB.
    init(_ content: [UInt8], with parameters: DeflateParameters) {
        self.content = content
        self.parameters = parameters
        parse = RepeatedTokens(content, with: parameters)
        writer = DeflateWriter(capacity: content.count / 2)
    }

    /// One raw deflate stream (RFC 1951).
    static func deflated(_ content: [UInt8], with parameters: DeflateParameters) -> [UInt8] {
        var deflate = RepeatedDeflate(content, with: parameters)
        while !deflate.isAtEnd {
            deflate.fill(to: .max)
            deflate.writeBlock()
        }
        return deflate.stream
    }

    /// What is written, as far as it is whole bytes.
    var stream: [UInt8] { writer.stream }

    /// The tokens of the block that is to be written.
    var tokens: [DeflateToken] { parse.tokens }

    /// Whether the block is whole.
    var isFilled: Bool { parse.isAtEnd || parse.tokens.count == parameters.tokensPerBlock }

    /// Whether the last block is written.
    private(set) var isAtEnd = false

    /// How many places were tried: what the work is in proportion to, with the bytes of the content.
    var tried: Int { parse.tried }

    /// Goes on until the block is whole, or has so many tokens.
    mutating func fill(to count: Int) { parse.fill(to: min(count, parameters.tokensPerBlock)) }

    /// Writes the block, once it is whole.
    mutating func writeBlock() {
        let end = parse.end
        writer.writeAsZlib(
            parse.tokens[...], of: parse.isInWindow(start) ? content[start..<end] : nil, isLast: parse.isAtEnd)
        start = end
        isAtEnd = parse.isAtEnd
        parse.removeAll()
    }
}

extension DeflateWriter {
    /// Writes a block in the way that zlib takes for the shortest, counting whole bytes.
    ///
    /// - Parameters:
    ///   - tokens: All of the block.
    ///   - bytes: What they stand for, at most 65,535; `nil` if they have left the window, where they cannot be stored any more.
    mutating func writeAsZlib(_ tokens: ArraySlice<DeflateToken>, of bytes: ArraySlice<UInt8>?, isLast: Bool) {
        let counts = TokenCounts(tokens)
        let codes = BlockCodes(zlib: counts)
        let dynamic = Self.size(codes.bits(counts) + counts.extraBits)
        let fixed = Self.size(Self.fixedBits(counts) + counts.extraBits)
        if let bytes, bytes.count + 4 <= min(dynamic, fixed) {
            writeStored(bytes, isLast: isLast)
        } else if fixed <= dynamic {
            writeFixed(tokens, isLast: isLast)
        } else {
            writeDynamic(tokens, codes, isLast: isLast)
        }
        if isLast { bits.fillByte() }
    }

    /// In bytes, with the three bits that a block begins with.
    private static func size(_ bits: Int) -> Int { (bits + 3 + 7) / 8 }
}
