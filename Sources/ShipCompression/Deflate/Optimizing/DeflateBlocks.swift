/// Writes tokens as a deflate stream, in the blocks that fit them best.
struct DeflateBlocks {
    /// Tokens that are looked at together: this, and 40 times as many bytes, is what it takes of memory.
    private static let window = 32_768

    private let bytes: [UInt8]
    private var writer: DeflateWriter
    /// What is in no block yet.
    private var tokens: [DeflateToken] = []
    /// Of `bytes`.
    private var written = 0

    /// - Parameters:
    ///   - bytes: What the tokens stand for, which is not looked at before they come.
    ///   - capacity: Bytes, for which there is room at once.
    init(of bytes: [UInt8], capacity: Int) {
        self.bytes = bytes
        writer = DeflateWriter(capacity: capacity)
    }

    /// What is written: all, after what came last.
    var stream: [UInt8] { writer.stream }

    /// - Parameters:
    ///   - new: Those of the bytes that come next.
    ///   - isLast: Whether they are the last ones.
    mutating func add(_ new: [DeflateToken], isLast: Bool) {
        var rest = new[...]
        while true {
            let taken = rest.prefix(Self.window - tokens.count)
            tokens += taken
            rest = rest.dropFirst(taken.count)
            let isAll = isLast && rest.isEmpty
            guard isAll || tokens.count == Self.window else { return }
            writeBlocks(isAll: isAll)
            guard !isAll else { return }
        }
    }

    private mutating func writeBlocks(isAll: Bool) {
        var ends = BlockSplit(tokens).ends()
        // The last block may go on in what comes next, unless it is long already.
        if !isAll, ends.count > 1, ends[ends.count - 2] >= Self.window / 2 { ends.removeLast() }
        var start = 0
        for (index, end) in ends.enumerated() {
            let block = tokens[start..<end]
            let size = block.reduce(0) { $0 + $1.byteCount }
            writer.write(block, of: bytes[written..<(written + size)], isLast: isAll && index == ends.count - 1)
            written += size
            start = end
        }
        tokens.removeFirst(start)
    }

    /// About what tokens take in blocks: without the search for the best codes.
    ///
    /// - Parameter ends: Behind which tokens they end.
    static func bits(_ tokens: [DeflateToken], _ ends: [Int]) -> Int {
        var (bits, start) = (0, 0)
        for end in ends {
            let counts = TokenCounts(tokens[start..<end])
            let codes = min(BlockCodes(counts).bits(counts), DeflateWriter.fixedBits(counts))
            bits += codes + counts.extraBits
            start = end
        }
        return bits
    }
}
