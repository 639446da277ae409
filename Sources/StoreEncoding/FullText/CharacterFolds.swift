import ShipCompression

/// The folding of the characters of a text in the words of a full-text index.
struct CharacterFolds: Hashable, Sendable {
    static let most = 65_536

    /// The kinds of a character: 0 no part of a word, 1 nothing in a word, and above the code point that stands for it and 2.
    private static let separator: UInt32 = 0
    private static let nothing: UInt32 = 1

    /// The others stand for themselves. By code point.
    private var others: [UInt32: UInt32] = [:]
    /// Of the code points below 128.
    private var ascii: [UInt32] = (0..<128).map { (code: UInt32) in
        let byte = UInt8(code)
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): return code + 32 + 2
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): return code + 2
        default: return separator
        }
    }
    /// Those that differ from what is fixed, in the order of code points.
    private var given: [(code: UInt32, fold: UInt32)] {
        let fixed = CharacterFolds()
        let ascii = ascii.enumerated().filter { $0.element != fixed.ascii[$0.offset] }
        return ascii.map { (UInt32($0.offset), $0.element) }
            + others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    init() {}

    private mutating func set(_ code: UInt32, _ fold: UInt32) {
        if code < 128 { ascii[Int(code)] = fold } else { others[code] = fold }
    }

    mutating func separate(at code: UInt32) { set(code, Self.separator) }
    mutating func leaveOut(_ code: UInt32) { set(code, Self.nothing) }
    mutating func replace(_ code: UInt32, by other: UInt32) { set(code, other + 2) }

    var numbers: [UInt64] {
        var last: Int64 = -1
        let given = given
        return [UInt64(given.count)]
            + given.flatMap { code, fold in
                defer { last = Int64(code) }
                return [UInt64(Int64(code) - last - 1), UInt64(fold)]
            }
    }

    init(from reader: inout SegmentReader) throws(CompressionError) {
        var last = -1
        for _ in 0..<(try reader.count(upTo: Self.most)) {
            last += 1 + (try reader.count(upTo: 0x11_0000))
            let fold = UInt32(try reader.count(upTo: 0x11_0001))
            guard let code = UInt32(exactly: last).flatMap(Unicode.Scalar.init),
                fold < 2 || Unicode.Scalar(fold - 2) != nil
            else {
                throw .damaged(.rows)
            }
            set(code.value, fold)
        }
    }

    /// Hands out the words of a text, in order. Bytes that are not UTF-8 are no part of a word.
    func forEachWord(in text: Span<UInt8>, _ body: ([UInt8]) -> Void) {
        var word: [UInt8] = []
        var place = 0
        while place < text.count {
            var fold = Self.separator
            if text[place] < 128 {
                fold = ascii[Int(text[place])]
                place += 1
            } else if let (code, length) = Self.character(at: place, of: text) {
                fold = others[code] ?? code + 2
                place += length
            } else {
                place += 1
            }
            if fold == Self.separator {
                if !word.isEmpty { body(word) }
                word.removeAll(keepingCapacity: true)
            } else if fold < 128 + 2, fold != Self.nothing {
                word.append(UInt8(fold - 2))
            } else if fold != Self.nothing, let character = Unicode.Scalar(fold - 2) {
                word.append(contentsOf: UTF8.encode(character) ?? .init())
            }
        }
        if !word.isEmpty { body(word) }
    }

    /// The code point above 127 that is encoded at a place, and its bytes.
    static func character(at place: Int, of text: Span<UInt8>) -> (code: UInt32, length: Int)? {
        let lead = text[place]
        let length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
        guard lead >= 0xc2, lead < 0xf5, place + length <= text.count else { return nil }
        var code = UInt32(lead) & (0x7f >> UInt32(length))
        for next in 1..<length {
            guard text[place + next] & 0xc0 == 0x80 else { return nil }
            code = code << 6 | UInt32(text[place + next] & 0x3f)
        }
        guard Unicode.Scalar(code) != nil, code >= (length == 4 ? 0x1_0000 : length == 3 ? 0x800 : 0x80) else {
            return nil
        }
        return (code, length)
    }
}
