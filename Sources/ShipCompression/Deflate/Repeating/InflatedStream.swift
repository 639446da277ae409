/// A raw deflate stream that zlib may have made, read: what it stands for, and in which tokens and blocks.
struct InflatedStream {
    struct Block {
        let kind: DeflateBlockKind
        /// Which of all tokens; of a stored block each byte is one.
        let tokens: Range<Int>
    }

    private(set) var content: [UInt8] = []
    private(set) var tokens: [DeflateToken] = []
    private(set) var blocks: [Block] = []
    /// How far back the farthest match begins, in bytes.
    private(set) var farthest = 0

    /// - Parameters:
    ///   - stream: Must be used to its last byte.
    ///   - limit: Most bytes that it may stand for; reading stops before there are more, and memory is taken for no more.
    /// - Returns: `nil` for what is no stream, or stands for more, or has blocks that are too short for zlib.
    init?(_ stream: ArraySlice<UInt8>, limit: Int) {
        var reader = DeflateReader(Array(stream))
        let shortest = DeflateParameters.tokensPerBlock(memoryLevel: DeflateParameters.memoryLevels.lowerBound)
        repeat {
            let start = tokens.count
            guard let kind = reader.readBlock(&tokens, to: limit + 1) else { return nil }
            blocks.append(Block(kind: kind, tokens: start..<tokens.count))
            guard reader.isAtEnd || tokens.count - start >= shortest, add(tokens[start...], limit: limit) else {
                return nil
            }
        } while !reader.isAtEnd
        guard reader.used == stream.count else { return nil }
    }

    /// - Returns: Whether there is what they stand for, and no more than `limit` bytes.
    private mutating func add(_ tokens: ArraySlice<DeflateToken>, limit: Int) -> Bool {
        let size = tokens.reduce(0) { $0 + $1.byteCount }
        guard size <= limit - content.count else { return false }
        for token in tokens {
            guard token.isMatch else {
                content.append(UInt8(truncatingIfNeeded: token.symbol))
                continue
            }
            let distance = token.distance
            guard distance <= content.count else { return false }
            farthest = max(farthest, distance)
            let start = content.count - distance
            for place in start..<(start + token.byteCount) { content.append(content[place]) }
        }
        return true
    }

    // MARK: What it says of its maker

    /// With which memory levels it can have been made, the likeliest first.
    var memoryLevels: [Int] {
        let sizes = DeflateParameters.memoryLevels.map {
            (level: $0, tokens: DeflateParameters.tokensPerBlock(memoryLevel: $0))
        }
        let least = blocks.last.map { $0.kind == .stored ? 0 : $0.tokens.count } ?? 0
        let possible = sizes.filter { $0.tokens >= least }
        let full = blocks.dropLast()
        if let first = full.first(where: { $0.kind != .stored })?.tokens.count {
            // All that are full are as large, and a stored one has no fewer bytes than tokens.
            guard full.allSatisfy({ $0.kind == .stored ? $0.tokens.count >= first : $0.tokens.count == first }) else {
                return []
            }
            return possible.filter { $0.tokens == first }.map(\.level)
        }
        if let shortest = full.map(\.tokens.count).min() {
            // Few bytes of what is stored are in matches.
            return possible.last { $0.tokens <= shortest }.map { [$0.level] } ?? []
        }
        let levels = possible.map(\.level)
        return [8, 9].filter(levels.contains) + levels.reversed().filter { $0 < 8 }
    }

    /// With which windows it can have been made, as far as it does not say: the largest, and the least that reaches far enough.
    var windows: [Int] {
        let least = DeflateParameters.windows.first { DeflateParameters.reach(windowBits: $0) >= farthest }
        let largest = DeflateParameters.windows.upperBound
        guard let least else { return [] }
        // All reach far enough back in content that is no larger than they are.
        return content.count > DeflateParameters.reach(windowBits: least) && least < largest
            ? [largest, least] : [largest]
    }
}
