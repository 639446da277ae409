/// Bytes before each text, in which a search finds matches too, with the places that each search would note in them.
struct MatchDictionary {
    /// That of each segment.
    static let builtIn = MatchDictionary(builtInBytes)

    let bytes: [UInt8]
    /// The chosen places whose keys are within it, in order, and the hashes of the keys.
    let places: [(place: Int32, hash: UInt64)]
    /// The first place whose key is not among them.
    let end: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
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

    /// - Parameter other: Bytes that follow those of a dictionary. Each search notes their places itself.
    init(_ dictionary: MatchDictionary, followedBy other: [UInt8]) {
        bytes = dictionary.bytes + other
        places = dictionary.places
        end = dictionary.end
    }
}
