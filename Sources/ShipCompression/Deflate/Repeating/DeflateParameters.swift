/// With what zlib made a stream: what its `deflateInit2` takes, for the default strategy and all input in one call.
///
/// Source: `Protocol/DEFLATE.md`; zlib 1.2.11 to 1.3.1 make the same of the same parameters.
package struct DeflateParameters: Hashable, Sendable {
    static let levels = 1...9
    static let memoryLevels = 1...9
    static let windows = 9...15

    /// How long matches are looked for.
    package let level: Int
    /// By which the hash table and the blocks grow.
    package let memoryLevel: Int
    /// The base 2 logarithm of the window, in bytes.
    package let windowBits: Int

    /// - Returns: `nil` for what zlib does not take, and for level 0.
    package init?(level: Int, memoryLevel: Int, windowBits: Int) {
        guard Self.levels.contains(level), Self.memoryLevels.contains(memoryLevel), Self.windows.contains(windowBits)
        else { return nil }
        (self.level, self.memoryLevel, self.windowBits) = (level, memoryLevel, windowBits)
    }

    /// A block has no more, and ends as soon as it has so many.
    var tokensPerBlock: Int { Self.tokensPerBlock(memoryLevel: memoryLevel) }

    static func tokensPerBlock(memoryLevel: Int) -> Int { 1 << (memoryLevel + 6) - 1 }

    /// In bytes.
    var windowSize: Int { 1 << windowBits }

    /// How far back a match may begin, in bytes.
    var reach: Int { Self.reach(windowBits: windowBits) }

    static func reach(windowBits: Int) -> Int { 1 << windowBits - leastAhead }

    /// With fewer bytes ahead than this, zlib reads on: a longest match, a shortest one, and a byte.
    static let leastAhead = DeflateFormat.longestMatch + DeflateFormat.shortestMatch + 1

    var hashBits: Int { memoryLevel + 7 }

    var effort: MatchEffort { MatchEffort.byLevel[level - 1] }
}

/// What a level of zlib's does for a match.
struct MatchEffort {
    /// With a match of at least this length at the byte before, a quarter of the places are tried.
    let good: Int
    /// Of lazy levels: with a match of at least this length at the byte before, none are tried. Of others: the places within a match
    /// are noted if it is no longer.
    let lazy: Int
    /// A match of at least this length is taken at once.
    let nice: Int
    /// How many places are tried.
    let depth: Int
    /// Whether a match waits for the byte after its first, where a longer one may begin.
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
