/// Numbers that look random, and are the same in each run. Source: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
package struct RepeatableRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<(count + 7) / 8).flatMap { _ in
            let number = next()
            return (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }.prefix(count).map(\.self)
    }
}
