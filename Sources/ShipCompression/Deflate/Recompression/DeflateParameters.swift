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
