/// What stands before each text that is searched for matches, and what a search would note of it each time.
struct MatchDictionary {
    /// `SegmentDictionary`.
    static let builtIn = MatchDictionary(SegmentDictionary.bytes)

    let bytes: [UInt8]
    /// The chosen places whose keys are within it, in order, and the hashes of the keys.
    let places: [(place: Int32, hash: UInt64)]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        places = bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, bytes.count >= MatchSearch.keySize else { return [] }
            return (0...(bytes.count - MatchSearch.keySize)).compactMap { place in
                guard MatchSearch.isChosen(start + place) else { return nil }
                return (Int32(truncatingIfNeeded: place), MatchSearch.hash(start + place))
            }
        }
    }

    /// The first place whose key is not within it.
    var end: Int { max(0, bytes.count - MatchSearch.keySize + 1) }
}
