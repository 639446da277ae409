/// The text area without what it repeats from further back than deflate can see.
///
/// Its history begins with the built-in dictionary.
struct LongMatches {
    /// The least length that the format can say.
    static let shortest = 8

    /// What is left of the text, in order.
    private(set) var literals: [UInt8] = []
    /// Literals before each match.
    private(set) var runs: [UInt8] = []
    /// Of the matches, less `shortest`.
    private(set) var lengths: [UInt8] = []
    /// How far back each match is, less 1.
    private(set) var distances: [UInt8] = []
    private(set) var count = 0

    /// - Parameters:
    ///   - leastGain: Bytes that a match must cover beyond what deflate sees itself. A match takes about four bytes, and what
    ///     it covers is not there for deflate to refer to.
    init(_ text: [UInt8], dictionary: MatchDictionary, effort: SegmentEffort, leastGain: Int) {
        var search = MatchSearch(text, dictionary: dictionary, effort: effort, leastGain: leastGain)
        var run = 0
        while let step = search.next() {
            switch step {
            case .literals(let count): run += count
            case .match(let length, let distance):
                runs.appendVarint(UInt64(run))
                lengths.appendVarint(UInt64(length - Self.shortest))
                distances.appendVarint(UInt64(distance - 1))
                count += 1
                run = 0
            }
        }
        literals = search.literals
    }
}
