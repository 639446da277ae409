import RandomStores
import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Literals in which bytes stand for words.
@Suite struct WordTests {
    /// Prose of an invented language, whose frequent words come far more often than others.
    private static func prose(_ size: Int, _ choices: Choices) -> [UInt8] {
        let vocabulary = (0..<4000).map { _ in choices.inventedWord() }
        var text = ""
        while text.utf8.count < size {
            let most = choices.below(vocabulary.count) + 1
            text += vocabulary[choices.below(choices.below(most) + 1)] + choices.pick([" ", " ", " ", " ", ", ", ". "])
        }
        return Array(text.utf8)
    }

    private static func decoded(_ coded: [UInt8], limit: Int) throws -> [UInt8] {
        var content = AreaCursor(coded)
        let code = try WordCode(from: &content, DecodingWork())
        return try code.literals(from: &content, limit: limit)
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `prose takes less, and comes back`(seed: UInt64) throws {
        let text = Self.prose(300_000, Choices(seed: seed))
        let coded = try #require(WordSearch.coded(text[...]))
        #expect(try Self.decoded(coded, limit: text.count) == text)
        let (with, without) = (
            try #require(try Deflate.raw(of: coded, level: 9)).count,
            try #require(try Deflate.raw(of: text, level: 9)).count
        )
        #expect(with * 100 < without * 90, "\(with) of \(without) bytes")
        for effort in [SegmentEffort.standard, .smallest] {
            var writer = try SegmentWriter(effort: effort)
            try writer.bytes(text)
            let segment = try writer.finish()
            #expect(SegmentForm(rawValue: segment[0]) == [.deflated, .words])
            var reader = try SegmentReader(decoding: segment)
            let isSame = try reader.bytes() == text
            #expect(isSame)
        }
    }

    @Test func `words that come once in front of a text do not hide the others`() throws {
        let choices = Choices(seed: 5)
        let text = Self.prose(150_000, choices)
        let letters = (0..<60_000).map { $0 % 17 == 16 ? UInt8(ascii: " ") : UInt8(97 + choices.below(26)) }
        let alone = try #require(WordSearch.coded(text[...]))
        let coded = try #require(WordSearch.coded((letters + text)[...]))
        #expect(try Self.decoded(coded, limit: letters.count + text.count) == letters + text)
        #expect(coded.count - letters.count < alone.count * 21 / 20)
    }

    /// As where digits and numbers have been taken out of JSON.
    @Test func `marks in a text do not hide its words`() throws {
        let prose = Self.prose(300_000, Choices(seed: 6))
        let text = prose.enumerated().flatMap { $0 % 40 == 39 ? [UInt8(1 + $0 % 8), $1] : [$1] }
        let coded = try #require(WordSearch.coded(text[...]))
        #expect(try Self.decoded(coded, limit: text.count) == text)
        #expect(coded.count * 2 < text.count, "\(coded.count) of \(text.count) bytes")
    }

    @Test func `words that JSON spells by the numbers of their characters are words`() throws {
        let choices = Choices(seed: 7)
        let vocabulary = (0..<300).map { _ in
            (0..<2 + choices.below(7)).map { _ in "\\u04" + String(0x30 + choices.below(32), radix: 16) }.joined()
        }
        let text = Array((0..<6000).map { _ in choices.pick(vocabulary) }.joined(separator: " ").utf8)
        let coded = try #require(WordSearch.coded(text[...]))
        #expect(try Self.decoded(coded, limit: text.count) == text)
        #expect(coded.count * 8 < text.count, "\(coded.count) of \(text.count) bytes")
    }

    /// A list that is read in the square of its length takes a quarter of a minute.
    @Test func `the longest list is read`() throws {
        var words = Strings()
        for number in 0..<SegmentLimits.words { words.append("\(1_000_000_000 + 7919 * number)".utf8) }
        let code = WordCode(codes: [0xF8, 0xF9, 0xFA], alone: 0, words: words)
        var bytes: [UInt8] = []
        code.write(to: &bytes)
        var cursor = AreaCursor(bytes)
        let read = try WordCode(from: &cursor, DecodingWork())
        #expect(read.words == code.words)
    }

    @Test func `any bytes come back, with texts among them or not`() throws {
        var coded = 0
        for seed in 1...UInt64(Soak.isOn ? 3000 : 150) {
            let choices = Choices(seed: seed)
            let text = Self.prose(60_000, choices)
            var literals: [UInt8] = []
            while literals.count < 40_000 {
                let start = choices.below(text.count)
                switch choices.below(8) {
                case 0: literals += choices.bytes(choices.length(upTo: 5000))
                case 1: literals += [UInt8](repeating: UInt8(choices.below(256)), count: choices.length(upTo: 3000))
                case 2: literals += (0..<choices.below(40)).map { _ in UInt8(choices.below(256)) }
                default: literals += text[start..<min(text.count, start + choices.length(upTo: 12_000))]
                }
            }
            guard let made = WordSearch.coded(literals[...]) else { continue }
            coded += 1
            let isSame = try Self.decoded(made, limit: literals.count) == literals
            #expect(isSame, "seed \(seed)")
            #expect(throws: CompressionError.self) { try Self.decoded(made, limit: literals.count - 1) }
        }
        #expect(coded > 50)
    }

    @Test func `bytes that few words come again in stay as they are`() {
        let choices = Choices(seed: 7)
        #expect(WordSearch.coded(choices.bytes(100_000)[...]) == nil)
        #expect(WordSearch.coded(Self.prose(10_000, choices)[...]) == nil)
        #expect(WordSearch.coded([UInt8](repeating: 0x20, count: 100_000)[...]) == nil)
    }

    @Test func `altered words end in an error or in other literals`() throws {
        let choices = Choices(seed: 3)
        let text = Self.prose(20_000, choices)
        let coded = try #require(WordSearch.coded(text[...]))
        for index in coded.indices {
            var altered = coded
            altered[index] ^= 1 << UInt8(choices.below(8))
            _ = try? Self.decoded(altered, limit: text.count)
        }
        for size in stride(from: 0, to: coded.count, by: 7) {
            _ = try? Self.decoded(Array(coded.prefix(size)), limit: text.count)
        }
    }
}
