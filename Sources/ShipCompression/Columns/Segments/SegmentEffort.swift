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
    /// What a match must be worth to be taken out of the text, in bytes, and `nil` for none that are taken out; of several, the
    /// best is found by trial.
    let leastGains: [Int?]

    /// Whether there is a base, in which the like of a stream's content stands, which a trial does not see.
    package var hasBase = false

    package static let fast = SegmentEffort(.fastest)
    package static let standard = SegmentEffort(.standard)
    package static let smallest = SegmentEffort(.smallest)
    /// For what may be thrown away soon: the least time, and no search for matches, which takes most of it.
    static let trial = SegmentEffort(care: .small, deflateLevel: CompressionLevel.fastest.value, leastGains: [nil])

    /// What a level asks for.
    package init(_ level: CompressionLevel) {
        let care: Care = level.value < 4 ? .small : level.value < 9 ? .usual : .great
        // The search for matches takes longer than all that is saved by deflating less.
        let searches = level.value > 2
        self.init(
            care: care, deflateLevel: level.value,
            leastGains: care == .great ? [16, 32, nil] : searches ? [32] : [nil])
    }

    private init(care: Care, deflateLevel: Int32, leastGains: [Int?]) {
        self.care = care
        self.deflateLevel = deflateLevel
        self.leastGains = leastGains
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
    var sampleSize: Int { care == .great ? 1 << 18 : 4096 }

    /// How many bytes the records of a group may have to be compared with its columns without a look at a part of them first.
    var comparedSize: Int {
        switch care {
        case .small: 4096
        case .usual: 8192
        case .great: 1 << 18
        }
    }

    /// The logarithm of how many hashes the search tells apart, at most: what it notes for them stays in a core's own cache.
    var searchBits: Int { care == .great ? 18 : 17 }

    /// How many earlier places are looked at for a match.
    var searchDepth: Int { care == .great ? 64 : 8 }
}
