import ShipCompression

/// Finds the words of literals that are worth a code, and writes the literals with these.
struct WordSearch {
    // Within the limits: at most 127 bytes stand for pairs, so that there are at most 32,513 words of 32 bytes; and a span is a part at least.

    /// A part of this size is a text or not.
    private static let part = 1024
    /// Fewer bytes of texts have too few words that come again.
    static let fewest = 1 << 14
    private static let fewestCodes = 16
    private static let longest = 32

    private let bytes: [UInt8]
    /// The texts among the literals.
    private var texts: [Range<Int>] = []
    private var isCode = [Bool](repeating: false, count: 256)
    /// Each word where it stands, also with a space before it.
    private var found: Strings

    /// What stands in the place of literals in a content with words; `nil` if few words come again in them.
    static func coded(_ literals: ArraySlice<UInt8>) -> [UInt8]? {
        guard literals.count >= fewest else { return nil }
        var search = WordSearch(literals)
        return search.coded()
    }

    private init(_ literals: ArraySlice<UInt8>) {
        bytes = Array(literals)
        found = Strings(in: bytes)
        for start in stride(from: 0, to: bytes.count, by: Self.part) {
            let part = start..<min(bytes.count, start + Self.part)
            let controls = bytes[part].count { ($0 < 32 && $0 != 0 && !(9...13 ~= $0)) || $0 == 127 }
            // There may be marks where numbers and digits were (`SegmentLimits.digitFields`); noise has bytes too that no text has.
            let others = bytes[part].count { 28...31 ~= $0 || $0 == 127 || $0 > 0xf7 }
            guard controls * 64 <= part.count || others * 512 <= part.count else { continue }
            if let last = texts.last, last.upperBound == start {
                texts[texts.count - 1] = last.lowerBound..<part.upperBound
            } else {
                texts.append(part)
            }
        }
    }

    private mutating func coded() -> [UInt8]? {
        let codes = rareBytes()
        guard codes.count >= Self.fewestCodes else { return nil }
        for code in codes { isCode[Int(code)] = true }
        findWords()
        guard let classes = found.distinct(ofMostlyDistinct: true) else { return nil }
        let (words, alone) = chosen(of: classes, codes.count - 1)
        guard !words.isEmpty else { return nil }
        var code: [UInt8] = []
        WordCode(
            codes: codes, alone: alone, words: found.selecting(words.map { Int(classes.firstRows[$0]) })
        ).write(to: &code)
        var spelling = [[UInt8]?](repeating: nil, count: classes.count)
        for (place, word) in words.enumerated() {
            let (pair, second) = (place - alone).quotientAndRemainder(dividingBy: WordCode.perPair)
            spelling[word] = place < alone ? [codes[place]] : [codes[alone + pair], UInt8(second + 1)]
        }
        let (text, spans) = coded(classes.ids.map { spelling[Int($0)] }, escape: codes[codes.count - 1])
        code.appendVarint(UInt64(texts.count))
        for span in spans { code.appendVarint(UInt64(span)) }
        return code + text
    }

    /// Bytes that the texts hardly have, ascending.
    private func rareBytes() -> [UInt8] {
        var counts = [Int](repeating: 0, count: 256)
        for text in texts { for byte in bytes[text] { counts[Int(byte)] += 1 } }
        let size = texts.reduce(0) { $0 + $1.count }
        guard size >= Self.fewest else { return [] }
        return (0...UInt8.max).filter { counts[Int($0)] <= size / 16384 }
    }

    /// Whether a character of three bytes begins at a place: those of the scripts of South and East Asia. Each is taken for a word, as deflate
    /// pays three times for it, and many of these scripts have no spaces between words.
    private func isCharacterAlone(at place: Int, in text: Range<Int>) -> Bool {
        place + 3 <= text.upperBound && 0xe0...0xed ~= bytes[place]
    }

    /// Bytes of a character that JSON spells by its number, as in `\u0441`; 0 if none begins at the place.
    private func escapeSize(at place: Int, in text: Range<Int>) -> Int {
        guard bytes[place] == UInt8(ascii: "\\"), place + 6 <= text.upperBound, bytes[place + 1] == UInt8(ascii: "u")
        else { return 0 }
        return bytes[place + 2..<place + 6].allSatisfy(HexDigits.isDigit) ? 6 : 0
    }

    private mutating func findWords() {
        func isLetter(_ byte: UInt8) -> Bool {
            (byte >= 0x80 || byte | 0x20 &- UInt8(ascii: "a") < 26) && !isCode[Int(byte)]
        }
        for text in texts {
            var at = text.lowerBound
            while at < text.upperBound {
                let start = at
                if bytes[at] == UInt8(ascii: " ") { at += 1 }
                let letters = at
                if isCharacterAlone(at: at, in: text) {
                    let end = at + 3
                    while at < end, isLetter(bytes[at]) { at += 1 }
                } else {
                    while at < text.upperBound, !isCharacterAlone(at: at, in: text) {
                        let size = isLetter(bytes[at]) ? 1 : escapeSize(at: at, in: text)
                        guard size > 0, size == 1 || at + size - start <= Self.longest else { break }
                        at += size
                    }
                }
                if at == letters, at == start { at += 1 }
                if at > letters, 2...Self.longest ~= at - start { found.append(start: start, length: at - start) }
            }
        }
    }

    /// The classes of words that are worth a code, in the order of the codes.
    ///
    /// - Parameter codes: Bytes that can be codes.
    private func chosen(of classes: DistinctValues, _ codes: Int) -> (words: [Int], alone: Int) {
        var counts = [Int](repeating: 0, count: classes.count)
        for id in classes.ids { counts[Int(id)] += 1 }
        // In half bytes: what each but the first saves, less what the word takes beside its code.
        let gains = (0..<classes.count).map { word in
            (counts[word] - 1) * (2 * Int(found.lengths[Int(classes.firstRows[word])]) - 3) - 12
        }
        let worth = (0..<classes.count).filter { gains[$0] > 0 }.sorted { (gains[$0], $1) > (gains[$1], $0) }
        let pairs = min(max(0, (worth.count - codes + WordCode.perPair - 2) / (WordCode.perPair - 1)), codes / 2)
        let alone = min(codes - pairs, worth.count)
        let kept = worth.prefix(alone + pairs * WordCode.perPair).sorted { (counts[$0], $1) > (counts[$1], $0) }
        // What resembles each other stands together, and takes the fewest bytes.
        func ordered(_ words: ArraySlice<Int>) -> [Int] {
            words.sorted { word(classes, $0).lexicographicallyPrecedes(word(classes, $1)) }
        }
        return (ordered(kept[..<alone]) + ordered(kept[alone...]), alone)
    }

    private func word(_ classes: DistinctValues, _ word: Int) -> ArraySlice<UInt8> {
        found[Int(classes.firstRows[word])]
    }

    /// - Parameter spelling: Of each word that was found; `nil` for itself.
    /// - Returns: All literals, and the lengths of its spans: as they are and coded, by turns.
    private func coded(_ spelling: [[UInt8]?], escape: UInt8) -> (text: [UInt8], spans: [Int]) {
        var (text, spans): ([UInt8], [Int]) = ([], [])
        text.reserveCapacity(bytes.count)
        var (next, end) = (0, 0)
        for span in texts {
            text += bytes[end..<span.lowerBound]
            spans.append(span.lowerBound - end)
            let start = text.count
            var at = span.lowerBound
            func put(upTo end: Int) {
                for byte in bytes[at..<end] {
                    if isCode[Int(byte)] { text.append(escape) }
                    text.append(byte)
                }
                at = end
            }
            while next < found.count, Int(found.starts[next]) < span.upperBound {
                if let codes = spelling[next] {
                    put(upTo: Int(found.starts[next]))
                    text += codes
                    at += Int(found.lengths[next])
                }
                next += 1
            }
            put(upTo: span.upperBound)
            spans.append(text.count - start)
            end = span.upperBound
        }
        return (text + bytes[end...], spans)
    }
}
