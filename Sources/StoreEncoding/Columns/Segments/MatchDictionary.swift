/// Bytes before each text, in which a search finds matches too, with the places that each search would note in them.
struct MatchDictionary {
    /// That of each segment.
    static let builtIn = MatchDictionary(builtInBytes)

    let bytes: [UInt8]
    /// The chosen places whose keys are within it, in order, and the hashes of the keys.
    let places: [(place: Int32, hash: UInt64)]
    /// The first place whose key is not among them.
    let end: Int
    /// Where values begin that are referred to, in order.
    let values: [Int]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        values = []
        end = max(0, bytes.count - MatchSearch.keySize + 1)
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

    /// - Parameters:
    ///   - other: Bytes that follow those of a dictionary. Each search notes their places itself.
    ///   - values: Where values begin among them that are referred to, in order.
    init(_ dictionary: MatchDictionary, followedBy other: [UInt8], values: [Int]) {
        self.values = values.map { $0 + dictionary.bytes.count }
        bytes = dictionary.bytes + other
        places = dictionary.places
        end = dictionary.end
    }
}
