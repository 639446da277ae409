/// The text area without what it repeats from further back than deflate can see.
///
/// Its history begins with the built-in dictionary.
struct LongMatches {
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
    private(set) var matched = 0

    /// - Parameters:
    ///   - text: What to look at.
    ///   - window: How far back deflate sees.
    init(_ text: [UInt8], dictionary: [UInt8], window: Int, depth: Int) {
        let history = dictionary + text
        guard history.count >= 16 else {
            literals = text
            return
        }
        let base = dictionary.count
        let bits = 17
        var heads = [Int32](repeating: -1, count: 1 << bits)
        var chain = [Int32](repeating: -1, count: history.count)
        literals.reserveCapacity(text.count)
        history.withUnsafeBytes { bytes in
            chain.withUnsafeMutableBufferPointer { chain in
                heads.withUnsafeMutableBufferPointer { heads in
                    let last = bytes.count - 8
                    func insert(_ place: Int) {
                        let key = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                        let slot = Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> UInt64(64 - bits))
                        chain[place] = heads[slot]
                        heads[slot] = Int32(truncatingIfNeeded: place)
                    }
                    func length(_ place: Int, _ earlier: Int) -> Int {
                        var length = 0
                        let limit = bytes.count &- place
                        while length < limit, bytes[place &+ length] == bytes[earlier &+ length] { length &+= 1 }
                        return length
                    }
                    /// The longest match, in what it saves against literals and against deflate's own matches.
                    func best(at place: Int) -> (length: Int, distance: Int, gain: Int)? {
                        guard place <= last else { return nil }
                        let key = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                        let slot = Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> UInt64(64 - bits))
                        var candidate = heads[slot]
                        var near = 0
                        var found: (length: Int, distance: Int, gain: Int)?
                        for _ in 0..<depth {
                            guard candidate >= 0 else { break }
                            let earlier = Int(candidate)
                            let distance = place - earlier
                            let length = length(place, earlier)
                            if length >= Self.shortest {
                                if distance <= window, earlier >= base {
                                    near = max(near, length)
                                    if length >= 64 { break }
                                } else {
                                    let gain = length - max(near, 4)
                                    if gain >= 6, gain > found?.gain ?? 0 { found = (length, distance, gain) }
                                }
                            }
                            candidate = chain[earlier]
                        }
                        if let found, near + 6 > found.length { return nil }
                        return found
                    }
                    for place in 0..<min(base, last + 1) { insert(place) }
                    var place = base
                    var runStart = base
                    while place < bytes.count {
                        guard let match = best(at: place) else {
                            if place <= last { insert(place) }
                            place += 1
                            continue
                        }
                        runs.appendVarint(UInt64(place - runStart))
                        lengths.appendVarint(UInt64(match.length - Self.shortest))
                        distances.appendVarint(UInt64(match.distance - 1))
                        literals.append(contentsOf: bytes[runStart..<place])
                        count += 1
                        matched += match.length
                        for covered in place..<min(place + match.length, last + 1) { insert(covered) }
                        place += match.length
                        runStart = place
                    }
                    literals.append(contentsOf: bytes[runStart..<bytes.count])
                }
            }
        }
    }
}
