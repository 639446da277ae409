package import ShipCompression

/// How much time an encoder spends to make a segment small.
package struct SegmentEffort: Hashable, Sendable {
    /// How closely encodings are compared before one is chosen.
    enum Thoroughness: Hashable, Sendable {
        /// It compares small samples.
        case small
        /// It compares samples.
        case usual
        /// It compares all values.
        case great

        /// See `StreamSearch.init(bytes:pictures:)`.
        var pictureLimit: Int? { self == .great ? SegmentLimits.deflatedString : nil }
    }

    let thoroughness: Thoroughness
    /// libdeflate's, 0 to 12.
    let deflateLevel: Int32
    /// Bits that a long match must save beyond what it takes; `nil` for no long matches. Of several the encoder takes the best, by trial.
    private(set) var margins: [Int?]

    /// Whether there is a base. It has content like that of the streams, which a trial does not see; and new rows resemble some of it,
    /// so that the search for matches always pays.
    package var hasBase = false {
        didSet {
            if hasBase, thoroughness != .great { margins = thoroughness == .small ? [20] : [0, Self.usualMargin] }
        }
    }
    /// Whether strings stand as they are, so that what is like them elsewhere is found.
    private(set) var keepsStrings = false
    /// Whether texts may go in another encoding of their characters, in which nothing of a base is found: where one with strings as they stand
    /// is compared with it, or there is no base.
    var changesStrings: Bool { !keepsStrings && (!hasBase || thoroughness == .usual) }
    /// Whether runs of digits are taken out of texts, where they are found no more by what has them as text.
    private(set) var takesDigits = true

    package static let standard = SegmentEffort(.standard)
    package static let smallest = SegmentEffort(.smallest)
    private static let usualMargin = 55
    /// For segments that may be thrown away soon: the least time, and no search for matches, which takes most of it.
    static let trial = SegmentEffort(thoroughness: .small, deflateLevel: CompressionLevel.fastest.value, margins: [nil])

    /// The effort that a level asks for.
    package init(_ level: CompressionLevel) {
        let thoroughness: Thoroughness = level.value < 4 ? .small : level.value < 9 ? .usual : .great
        // The search for matches takes longer than all that is saved by deflating less.
        let searches = level.value > 2
        self.init(
            thoroughness: thoroughness, deflateLevel: level.value,
            margins: thoroughness == .great ? [90, 30, -40, nil] : searches ? [Self.usualMargin] : [nil])
    }

    /// A lower one, which chooses in another way; `nil` where time counts for more.
    private var lower: SegmentEffort? {
        var lower: SegmentEffort
        switch thoroughness {
        case .small: return nil
        case .usual: lower = SegmentEffort(.quick)
        case .great: lower = SegmentEffort(thoroughness: .usual, deflateLevel: 8, margins: [Self.usualMargin])
        }
        lower.hasBase = hasBase
        lower.takesDigits = thoroughness != .great || hasBase
        return lower
    }

    /// Others of which one may take fewer bytes: what looks smaller part by part need not be smaller together, and no part shows what stands
    /// elsewhere, or in a base. None where time counts for more.
    var others: [SegmentEffort] {
        guard !keepsStrings else { return [] }
        var kept = thoroughness == .great ? lower ?? self : self
        kept.keepsStrings = true
        return switch thoroughness {
        case .small: []
        case .usual: [hasBase ? kept : lower].compactMap(\.self)
        case .great: [lower, kept].compactMap(\.self)
        }
    }

    private init(thoroughness: Thoroughness, deflateLevel: Int32, margins: [Int?]) {
        self.thoroughness = thoroughness
        self.deflateLevel = deflateLevel
        self.margins = margins
    }

    /// The most values that a choice looks at.
    var sampleCount: Int {
        switch thoroughness {
        case .small: 512
        case .usual: 1024
        case .great: 1 << 16
        }
    }

    /// The most bytes of text that a choice looks at.
    var sampleSize: Int {
        switch thoroughness {
        case .small: 1 << 12
        case .usual: 1 << 14
        case .great: 1 << 18
        }
    }

    /// The most bytes of records that are compared with the columns of a group without comparing a part of them first.
    var comparedSize: Int {
        switch thoroughness {
        case .small: 4096
        case .usual: 8192
        case .great: 1 << 18
        }
    }

    /// The most bits of a hash in the search: its table stays in the cache of a core, but where the search notes all places.
    var searchBits: Int { thoroughness == .great ? 20 : 17 }

    /// The most earlier places that the search tries for a match.
    var searchDepth: Int { thoroughness == .great ? 32 : 8 }

    /// Bits of a hash that are 0 where the search chooses a place of the text.
    var unchosen: UInt64 { thoroughness == .great ? 0 : MatchSearch.unchosen }
}
