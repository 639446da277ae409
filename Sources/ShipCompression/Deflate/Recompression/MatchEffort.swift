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
