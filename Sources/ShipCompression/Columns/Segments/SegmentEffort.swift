/// How much time goes into making a segment small.
package struct SegmentEffort: Hashable, Sendable {
    /// How closely encodings are compared before one is chosen.
    enum Care: Hashable, Sendable {
        /// By small samples.
        case small
        /// By samples.
        case usual
        /// By all values.
        case great
    }

    let care: Care
    /// libdeflate's, 0 to 12.
    let deflateLevel: Int32

    package static let fast = SegmentEffort(.fastest)
    package static let standard = SegmentEffort(.standard)
    package static let smallest = SegmentEffort(.smallest)

    /// What a level asks for.
    package init(_ level: CompressionLevel) {
        deflateLevel = level.value
        care = level.value < 4 ? .small : level.value < 9 ? .usual : .great
    }

    /// How many values a choice looks at, at most.
    var sampleCount: Int {
        switch care {
        case .small: 512
        case .usual: 1024
        case .great: 1 << 16
        }
    }

    /// How many bytes of text a choice looks at, at most.
    var sampleSize: Int {
        switch care {
        case .small: 4096
        case .usual: 8192
        case .great: 1 << 18
        }
    }

    /// What a match must be worth to be taken out of the text, in bytes; of several, the best is found by trial.
    var leastGains: [Int] { care == .great ? [16, 32] : [32] }

    /// The logarithm of how many hashes the search tells apart, at most: what it notes for them stays in a core's own cache.
    var searchBits: Int { care == .great ? 18 : 17 }

    /// How many earlier places are looked at for a match.
    var searchDepth: Int { care == .great ? 64 : 8 }
}
