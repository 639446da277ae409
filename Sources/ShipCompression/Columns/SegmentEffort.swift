/// How much time goes into making a segment small.
package enum SegmentEffort: Hashable, Sendable {
    /// Encodings by small samples, libdeflate 3.
    case fast
    /// Encodings by samples, libdeflate 6.
    case standard
    /// Encodings by all values, libdeflate 12.
    case smallest

    /// What a level asks for.
    package init(_ level: CompressionLevel) {
        self = level.value < 4 ? .fast : level.value < 9 ? .standard : .smallest
    }

    var deflateLevel: Int32 {
        switch self {
        case .fast: 3
        case .standard: 6
        case .smallest: 12
        }
    }

    /// How many values a choice looks at, at most.
    var sampleCount: Int {
        switch self {
        case .fast: 512
        case .standard: 2048
        case .smallest: 1 << 16
        }
    }

    /// How many bytes of text a choice looks at, at most.
    var sampleSize: Int {
        switch self {
        case .fast: 4096
        case .standard: 16_384
        case .smallest: 1 << 18
        }
    }

    /// What a match must be worth to be taken out of the text, in bytes; of several, the best is found by trial.
    var leastGains: [Int] { self == .smallest ? [16, 32] : [32] }

    /// How many earlier places are looked at for a match.
    var searchDepth: Int { self == .smallest ? 64 : 8 }
}
