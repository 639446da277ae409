/// Finds runs of digits in texts: hexadecimal ones of kinds that look random, as what runs have in common takes few bytes where they stand,
/// too; and those in base64.
struct DigitRunSearch {
    enum Kind: Hashable {
        case hex(HexDigits, count: Int)
        case uuid(HexDigits)
        /// Of texts, or of other bytes: they are not alike.
        case base64(ofText: Bool)

        var isBase64: Bool {
            if case .base64 = self { true } else { false }
        }
    }

    /// Shorter runs are as likely words and numbers.
    private static let shortest = 8
    /// Of the bytes of a few strings, at least one in so many belongs to a run where runs are worth a trial.
    private static let leastShare = 24
    /// How many strings are looked at, how many bytes of each, and how often a kind of hexadecimal ones must have been found.
    private static let (looked, lookedSize, leastCount) = (16, 1 << 14, 8)

    /// The cases in which hexadecimal ones are.
    private let cases: [HexDigits]
    private let base64: Base64Search?
    /// Whether each string has one run of a kind, and those that come again are matches, wherever they stand.
    private(set) var areKeys = false
    /// The kinds, the most frequent first.
    private(set) var kinds: [Kind] = []
    /// Those of which runs come again, and deflate finds them best as they stand.
    private(set) var repeated: Set<Kind> = []
    /// How much of the strings is in runs of base64 that stand in the segment elsewhere too, up to 1.
    private var tokenShare = 0.0
    /// Runs that stay where they are.
    private var common: Set<[UInt8]> = []

    /// - Parameters:
    ///   - mayBeKeys: Whether other columns have the strings, and all are of one length.
    ///   - inBase64: Whether it looks for runs in base64, too.
    ///   - contents: Of the segment.
    /// - Returns: `nil` where hardly any runs are.
    init?(_ strings: Strings, mayBeKeys: Bool, inBase64: Bool, in contents: [[UInt8]]) {
        let looked = (0..<strings.count).sampled(Self.looked).map { strings[$0] }
        let sample = looked.map { $0.prefix(Self.lookedSize) }
        let least = sample.reduce(0) { $0 + $1.count } / Self.leastShare
        let likely = inBase64 ? Base64Search.search(in: looked, most: Self.lookedSize) : nil
        base64 = likely.flatMap { $0.size > least ? $0.search : nil }
        cases = [.lower, .upper].filter { digits in
            var size = 0
            for text in sample {
                text.withUnsafeBufferPointer { Self.scan($0, $0.indices, digits) { run, _ in size += run.count } }
            }
            return size > least
        }
        guard base64 != nil || !cases.isEmpty else { return nil }
        var found: [Kind: Found] = [:]
        var tokens: [ArraySlice<UInt8>] = []
        for index in 0..<strings.count {
            strings[index].withUnsafeBufferPointer { text in
                scanAll(text) { run, kind, bytes in
                    found[kind, default: Found()].add(bytes)
                    if kind.isBase64 { tokens.append(strings[index].dropFirst(run.lowerBound).prefix(run.count)) }
                }
            }
        }
        let keys = found.filter { mayBeKeys && !$0.isBase64 && $1.count == strings.count && $1.areKeys }.keys
        if let longest = keys.max(by: { $0.order < $1.order }) {
            (areKeys, kinds) = (true, [longest])
            return
        }
        let all = found.reduce(0) { $0 + ($1.key.isBase64 ? 0 : $1.value.count) }
        kinds = found.filter { kind, found in
            guard !kind.isBase64 else { return found.areDifferent }
            return found.count >= Self.leastCount && found.count * 32 >= all && found.pays
        }.sorted { ($0.value.count, $1.key.order) > ($1.value.count, $0.key.order) }.prefix(SegmentLimits.digitFields)
            .map(\.key)
        guard !kinds.isEmpty else { return nil }
        repeated = Set(kinds.filter { !$0.isBase64 && found[$0]?.isRepeated == true })
        let size = kinds.reduce(0) { $0 + ($1.isBase64 ? found[$1]?.size ?? 0 : 0) }
        let share = TokenSearch.share(of: tokens, in: contents, besides: strings)
        tokenShare = Double(size) * 4 / 3 / Double(strings.totalLength) * share
    }

    /// Whether strings are in base64, each from its first byte to its last.
    var areInBase64: Bool { base64?.areWhole == true }

    /// What a cost is compared by: no trial sees what is found where it stands.
    ///
    /// - Parameter isCompared: Whether the segment is also encoded without runs, so that it shows what is found then.
    func weighed(_ cost: Int, isCompared: Bool) -> Int {
        cost + Int(Double(cost) * (isCompared ? tokenShare / 5 : tokenShare))
    }

    func form(of kind: Kind) -> DigitForm {
        switch kind {
        case .hex(let digits, _): .hex(digits)
        case .uuid(let digits): .uuid(digits)
        case .base64: .base64(base64?.form ?? Base64Form.all[0])
        }
    }

    /// The runs of a kind.
    private struct Found {
        /// Runs that deflate sees together, where they stand by their bytes.
        private static let window = 1500
        /// How many different ones are looked at.
        private static let looked = 1024

        private(set) var count = 0
        /// Their bytes.
        private(set) var size = 0
        private var places: [[UInt8]: Int] = [:]
        private var different: [(run: [UInt8], count: Int, last: Int)] = []
        /// Of those that came before, those that came so long before that deflate does not see them.
        private var far = 0

        mutating func add(_ run: [UInt8]) {
            if let place = places[run] {
                if count - different[place].last > Self.window { far += 1 }
                different[place].count += 1
                different[place].last = count
            } else {
                places[run] = different.count
                different.append((run, 1, count))
            }
            count += 1
            size += run.count
        }

        /// Those that come all the time: they take nothing in the text around them.
        var common: [[UInt8]] { different.filter { $0.count > max(4, count / 16) }.map(\.run) }

        /// Whether one of five has come before.
        var isRepeated: Bool { different.count * 5 < count * 4 }

        /// Whether half of them have not come before.
        var areDifferent: Bool { different.count * 2 >= count }

        /// As text, one takes some seven bytes more. One that comes again is often part of a longer match there, and of one at any distance.
        var pays: Bool { different.count * 7 > (count - different.count) * 2 + far * 12 && areRandom }

        /// Whether they are long enough to be found elsewhere.
        var areKeys: Bool { different.first.map { $0.run.count >= MatchSearch.keySize } == true && areRandom }

        /// Whether three bytes of four have no value that an eighth of the runs has.
        private var areRandom: Bool {
            let runs = different.prefix(Self.looked).map(\.run)
            let size = runs.map(\.count).min() ?? 0
            let random = (0..<size).count { place in
                var counts = [Int](repeating: 0, count: 256)
                for run in runs { counts[Int(run[place])] += 1 }
                return (counts.max() ?? 0) <= max(2, runs.count / 8)
            }
            return random * 4 >= size * 3
        }
    }

    /// Finds the runs that are worth it, with their bytes.
    func scan(
        _ text: UnsafeBufferPointer<UInt8>, _ found: (_ run: Range<Int>, _ bytes: [UInt8], _ place: Int) -> Void
    ) {
        scanAll(text) { run, kind, bytes in
            guard let place = kinds.firstIndex(of: kind), !common.contains(bytes) else { return }
            found(run, bytes, place)
        }
    }

    private func scanAll(
        _ text: UnsafeBufferPointer<UInt8>, _ found: (_ run: Range<Int>, _ kind: Kind, _ bytes: [UInt8]) -> Void
    ) {
        var place = 0
        func scanHex(_ part: Range<Int>, _ cases: ArraySlice<HexDigits>) {
            guard let digits = cases.first else { return }
            var place = part.lowerBound
            Self.scan(text, part, digits) { run, kind in
                scanHex(place..<run.lowerBound, cases.dropFirst())
                found(run, kind, digits.bytes(of: text, run))
                place = run.upperBound
            }
            scanHex(place..<part.upperBound, cases.dropFirst())
        }
        base64?.scan(text) { run, bytes in
            scanHex(place..<run.lowerBound, cases[...])
            found(run, .base64(ofText: bytes.prefix(16).allSatisfy { 0x09...0x7e ~= $0 }), bytes)
            place = run.upperBound
        }
        scanHex(place..<text.count, cases[...])
    }

    /// Finds the runs of a part of a text, in order: of digits and letters, an even number of them, or UUIDs.
    private static func scan(
        _ text: UnsafeBufferPointer<UInt8>, _ part: Range<Int>, _ digits: HexDigits,
        _ found: (_ run: Range<Int>, _ kind: Kind) -> Void
    ) {
        let text = UnsafeBufferPointer(rebasing: text[..<part.upperBound])
        var place = part.lowerBound
        while place <= text.count - shortest {
            // A run of `shortest` has a digit at one of these places.
            guard digits.isDigit(text[place + shortest - 1]) else {
                place += shortest
                continue
            }
            var start = place + shortest - 1
            while start > place, digits.isDigit(text[start - 1]) { start -= 1 }
            var end = place + shortest
            while end < text.count, digits.isDigit(text[end]) { end += 1 }
            if end - start == 8, digits.isUUID(text, at: start) {
                place = start + HexDigits.uuidLength
                found(start..<place, .uuid(digits))
                continue
            }
            place = end
            let even = start..<(end - (end - start) % 2)
            if even.count >= shortest, isMixed(text, even) { found(even, .hex(digits, count: even.count)) }
        }
    }

    /// Whether there are digits and letters: others are numbers and words.
    private static func isMixed(_ text: UnsafeBufferPointer<UInt8>, _ run: Range<Int>) -> Bool {
        var (hasNumber, hasLetter) = (false, false)
        for place in run {
            if text[place] <= UInt8(ascii: "9") { hasNumber = true } else { hasLetter = true }
            if hasNumber, hasLetter { return true }
        }
        return false
    }
}

extension DigitRunSearch.Kind {
    /// Orders kinds that are as frequent.
    fileprivate var order: Int {
        switch self {
        case .hex(let digits, let count): 2 * count + (digits == .upper ? 1 : 0)
        case .uuid(let digits): digits == .upper ? 3 : 2
        case .base64(let ofText): ofText ? 1 : 0
        }
    }
}
