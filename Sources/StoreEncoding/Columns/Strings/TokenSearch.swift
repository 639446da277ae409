/// Finds parts of texts in the content of a segment: a token in an address often stands in another column too, where it is found as it
/// stands.
struct TokenSearch {
    static let keySize = 8
    private static let slotBits = 12
    /// Columns of less than this part of the content are not looked at, as each look is at all of it.
    private static let leastPart = 64
    /// How many tokens are looked for, and for how many keys of each. Of keys that share a slot the first counts.
    private static let (most, keysOfEach) = (128, 3)

    private let count: Int
    /// The keys, each in the slot of its hash; 0 for none.
    private var keys = [UInt64](repeating: 0, count: 1 << Self.slotBits)
    /// The token that each is of; `nil` for none, or several: what tokens have in common is no name.
    private var owners = [Int?](repeating: nil, count: 1 << Self.slotBits)

    /// - Parameters:
    ///   - tokens: Shorter ones than keys are left out.
    ///   - own: The column that they are of.
    /// - Returns: How much of the tokens stands in `contents` more often than in `own`, up to 1; 0 for too few to be worth a look.
    static func share(
        of tokens: @autoclosure () -> [ArraySlice<UInt8>], in contents: [[UInt8]], besides own: Strings
    ) -> Double {
        guard own.totalLength >= contents.reduce(0, { $0 + $1.count }) / leastPart, !contents.isEmpty else { return 0 }
        return TokenSearch(tokens()).share(in: contents, besides: own)
    }

    private init(_ tokens: [ArraySlice<UInt8>]) {
        let looked = tokens.sampled(Self.most)
        count = looked.count
        for (owner, token) in looked.enumerated() where token.count >= Self.keySize {
            for number in 1...Self.keysOfEach {
                let start = (token.count - Self.keySize) * number / (Self.keysOfEach + 1)
                let part = token.dropFirst(start).prefix(Self.keySize)
                // What has few different bytes stands everywhere.
                guard Set(part).count * 2 > Self.keySize else { continue }
                let key = part.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
                let slot = Self.slot(of: key)
                if keys[slot] == 0 {
                    (keys[slot], owners[slot]) = (key, owner)
                } else if keys[slot] == key, owners[slot] != owner {
                    owners[slot] = nil
                }
            }
        }
    }

    private func share(in contents: [[UInt8]], besides own: Strings) -> Double {
        var counts = [Int](repeating: 0, count: keys.count)
        for content in contents { content.withUnsafeBytes { note($0, 1, in: &counts) } }
        for index in 0..<own.count { own[index].withUnsafeBytes { note($0, -1, in: &counts) } }
        let found = Set(counts.indices.lazy.filter { counts[$0] > 0 }.compactMap { owners[$0] }).count
        let share = Double(found) / Double(max(1, count))
        return share < KeySearch.leastShare ? 0 : share
    }

    private func note(_ text: UnsafeRawBufferPointer, _ sign: Int, in counts: inout [Int]) {
        keys.withUnsafeBufferPointer { keys in
            for place in 0..<max(0, text.count - Self.keySize + 1) {
                let key = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                let slot = Self.slot(of: key)
                if keys[slot] == key { counts[slot] += sign }
            }
        }
    }

    private static func slot(of key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> UInt64(64 - slotBits))
    }
}
