/// Finds runs of hexadecimal digits in texts, of kinds that look random: what runs have in common takes few bytes where they stand, too.
struct DigitRunSearch {
    /// Shorter runs are as likely words and numbers.
    private static let shortest = 8
    /// Of the bytes of a few strings, at least one in so many belongs to a run where runs are worth a trial.
    private static let leastShare = 12
    /// How many bytes of them are looked at, and how often a kind must have been found.
    private static let (lookedSize, leastCount) = (1 << 14, 8)

    let digits: HexDigits
    /// The kinds, the most frequent first: the number of digits, or `uuid`.
    private(set) var kinds: [Int] = []
    /// Those of which runs come again.
    private(set) var repeated: Set<Int> = []
    /// Runs that stay where they are.
    private var common: Set<[UInt8]> = []
    static let uuid = 1

    /// - Returns: `nil` where hardly any runs are.
    init?(_ strings: Strings) {
        var (size, lower, upper) = (0, 0, 0)
        for index in stride(from: 0, to: strings.count, by: max(1, strings.count / 16)) {
            let text = strings[index].prefix(Self.lookedSize)
            size += text.count
            text.withUnsafeBufferPointer { text in
                Self.scan(text, .lower) { run, _ in lower += run.count }
                Self.scan(text, .upper) { run, _ in upper += run.count }
            }
        }
        guard max(lower, upper) * Self.leastShare > size else { return nil }
        digits = lower >= upper ? .lower : .upper
        var found: [Int: Found] = [:]
        for index in 0..<strings.count {
            strings[index].withUnsafeBufferPointer { text in
                Self.scan(text, digits) { run, kind in
                    found[kind, default: Found()].add(digits.bytes(of: text, run))
                }
            }
        }
        let all = found.reduce(0) { $0 + $1.value.count }
        kinds = found.filter { $1.count >= Self.leastCount && $1.count * 32 >= all && $1.pays }
            .sorted { ($0.value.count, $1.key) > ($1.value.count, $0.key) }.prefix(SegmentLimits.digitFields).map(\.key)
        guard !kinds.isEmpty else { return nil }
        repeated = Set(kinds.filter { found[$0]?.isRepeated == true })
        common = Set(kinds.flatMap { found[$0]?.common ?? [] })
    }

    /// The runs of a kind.
    private struct Found {
        /// Runs that deflate sees together, where they stand by their bytes.
        private static let window = 1500
        /// How many different ones are looked at.
        private static let looked = 1024

        private(set) var count = 0
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
        }

        /// Those that come all the time: they take nothing in the text around them.
        var common: [[UInt8]] { different.filter { $0.count > max(4, count / 16) }.map(\.run) }

        /// Whether one of five has come before.
        var isRepeated: Bool { different.count * 5 < count * 4 }

        /// As text, one takes some seven bytes more. One that comes again is often part of a longer match there, and of one at any distance.
        var pays: Bool { different.count * 7 > (count - different.count) * 2 + far * 12 && areRandom }

        /// Whether three bytes of four have no value that an eighth of the runs has.
        private var areRandom: Bool {
            let runs = different.prefix(Self.looked).map(\.run)
            let size = runs.first?.count ?? 0
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
        Self.scan(text, digits) { run, kind in
            guard let place = kinds.firstIndex(of: kind) else { return }
            let bytes = digits.bytes(of: text, run)
            if !common.contains(bytes) { found(run, bytes, place) }
        }
    }

    /// Finds the runs of a text, in order: of digits and letters, an even number of them, or UUIDs.
    private static func scan(
        _ text: UnsafeBufferPointer<UInt8>, _ digits: HexDigits, _ found: (_ run: Range<Int>, _ kind: Int) -> Void
    ) {
        var place = 0
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
                found(start..<place, uuid)
                continue
            }
            place = end
            let even = start..<(end - (end - start) % 2)
            if even.count >= shortest, isMixed(text, even) { found(even, even.count) }
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
