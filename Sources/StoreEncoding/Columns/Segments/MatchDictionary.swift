/// Bytes before each text, in which a search finds matches too.
struct MatchDictionary {
    /// That of each segment.
    static let builtIn = MatchDictionary(bytes: builtInBytes)

    let bytes: [UInt8]
    /// Where values begin that are referred to, in order.
    var values: [Int] = []
}
