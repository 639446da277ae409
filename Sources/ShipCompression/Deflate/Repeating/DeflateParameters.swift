/// The parameters with which zlib made a stream: those of `deflateInit2`, for the default strategy and all input in one call.
///
/// Source: `Protocol/DEFLATE.md`; zlib 1.2.11 to 1.3.1 make the same of the same parameters.
package struct DeflateParameters: Hashable, Sendable {
    static let levels = 1...9
    static let memoryLevels = 1...9
    static let windows = 9...15

    /// How hard zlib looks for matches.
    package let level: Int
    /// The sizes of the hash table and of the blocks follow from it.
    package let memoryLevel: Int
    /// The base 2 logarithm of the window, in bytes.
    package let windowBits: Int

    /// - Returns: `nil` for what zlib does not take, and for level 0.
    package init?(level: Int, memoryLevel: Int, windowBits: Int) {
        guard Self.levels.contains(level), Self.memoryLevels.contains(memoryLevel), Self.windows.contains(windowBits)
        else { return nil }
        (self.level, self.memoryLevel, self.windowBits) = (level, memoryLevel, windowBits)
    }

    /// A block ends as soon as it has this many tokens.
    var tokensPerBlock: Int { Self.tokensPerBlock(memoryLevel: memoryLevel) }

    static func tokensPerBlock(memoryLevel: Int) -> Int { 1 << (memoryLevel + 6) - 1 }

    /// In bytes.
    var windowSize: Int { 1 << windowBits }

    /// How far back a match may begin, in bytes.
    var reach: Int { Self.reach(windowBits: windowBits) }

    static func reach(windowBits: Int) -> Int { 1 << windowBits - leastAhead }

    /// zlib reads on when it has fewer bytes ahead: a longest match, a shortest one, and a byte.
    static let leastAhead = DeflateFormat.longestMatch + DeflateFormat.shortestMatch + 1

    var hashBits: Int { memoryLevel + 7 }

    var effort: MatchEffort { MatchEffort.byLevel[level - 1] }
}

/// How a level of zlib looks for matches: its `configuration_table`.
struct MatchEffort {
    /// If the match at the byte before has at least this length, a quarter of the places are tried.
    let good: Int
    /// Lazy levels try no places if the match at the byte before has at least this length. Other levels note the places within a match only
    /// if it is no longer than this.
    let lazy: Int
    /// A match of at least this length is taken at once.
    let nice: Int
    /// The most places to try.
    let depth: Int
    /// Whether the level looks for a longer match at the next byte before it takes one.
    let isLazy: Bool

    /// From level 1 on.
    static let byLevel = [
        MatchEffort(good: 4, lazy: 4, nice: 8, depth: 4, isLazy: false),
        MatchEffort(good: 4, lazy: 5, nice: 16, depth: 8, isLazy: false),
        MatchEffort(good: 4, lazy: 6, nice: 32, depth: 32, isLazy: false),
        MatchEffort(good: 4, lazy: 4, nice: 16, depth: 16, isLazy: true),
        MatchEffort(good: 8, lazy: 16, nice: 32, depth: 32, isLazy: true),
        MatchEffort(good: 8, lazy: 16, nice: 128, depth: 128, isLazy: true),
        MatchEffort(good: 8, lazy: 32, nice: 128, depth: 256, isLazy: true),
        MatchEffort(good: 32, lazy: 128, nice: 258, depth: 1024, isLazy: true),
        MatchEffort(good: 32, lazy: 258, nice: 258, depth: 4096, isLazy: true),
    ]
}
