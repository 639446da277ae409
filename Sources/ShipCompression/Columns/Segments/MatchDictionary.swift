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
            var places: [(place: Int32, hash: UInt64)] = []
            // About one of four is chosen.
            places.reserveCapacity(bytes.count / 4 + bytes.count / 32 + 16)
            for place in 0...(bytes.count - MatchSearch.keySize) where MatchSearch.isChosen(start + place) {
                places.append((Int32(truncatingIfNeeded: place), MatchSearch.hash(start + place)))
            }
            return places
        }
    }

    /// The first place whose key is not within it.
    var end: Int { max(0, bytes.count - MatchSearch.keySize + 1) }
}
