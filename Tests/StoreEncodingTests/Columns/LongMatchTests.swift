import RandomStores
import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Matches further apart than deflate sees.
@Suite struct LongMatchTests {
    private static func matches(_ text: [UInt8], values: [Range<Int>] = [], margin: Int = 55) -> LongMatches {
        LongMatches(text, values: values, dictionary: .builtIn, effort: .standard, margin: margin)
    }

    /// Deflated bytes of what stands for a text.
    private static func size(_ matches: LongMatches) throws -> Int {
        let content = matches.runs + matches.lengths + matches.distances + matches.literals
        return try Deflate.raw(of: content, level: 6)?.count ?? content.count
    }

    private static func noise(_ count: Int, _ digits: [UInt8], _ choices: Choices) -> [UInt8] {
        (0..<count).map { _ in digits[choices.below(digits.count)] }
    }

    /// Texts of a kind, in which things come again further off than 32 KiB.
    enum Kind: CaseIterable {
        case prose, keys, digits, sentences, lines

        func text(_ choices: Choices) -> [UInt8] {
            let words = (0..<600).map { _ in Array((choices.inventedWord() + " ").utf8) }
            func sentence(_ count: Int) -> [UInt8] {
                (0..<count).flatMap { _ in words[choices.below(choices.below(600) + 1)] }
            }
            let things: [[UInt8]]
            switch self {
            case .prose: return sentence(40_000)
            case .keys: things = (0..<4000).map { _ in LongMatchTests.noise(16, Array(0...255), choices) }
            case .digits:
                things = (0..<4000).map { _ in LongMatchTests.noise(24, Array("0123456789abcdef".utf8), choices) }
            case .sentences: things = (0..<1500).map { _ in sentence(4 + choices.below(20)) }
            case .lines:
                things = (0..<3000).map { Array("[\($0 % 60)] GET /api/v2/items/\(choices.below(90)) 200\n".utf8) }
            }
            return (0..<3).flatMap { _ in (0..<things.count).flatMap { _ in things[choices.below(things.count)] } }
        }
    }

    @Test(arguments: Kind.allCases, [1, 2] as [UInt64])
    func `take no more than the text without them`(kind: Kind, seed: UInt64) throws {
        let text = kind.text(Choices(seed: seed))
        let plain = try Deflate.raw(of: text, level: 6)?.count ?? text.count
        for margin in [90, 55] {
            let size = try Self.size(Self.matches(text, margin: margin))
            #expect(size * 100 <= plain * 102, "\(kind), margin \(margin), seed \(seed): \(size) of \(plain)")
        }
    }

    @Test func `are keys that come again, and not what is common`() throws {
        let choices = Choices(seed: 3)
        let keys = (0..<12_000).map { _ in Self.noise(16, Array(0...255), choices) }
        let again = keys.indices.map { keys[($0 &* 7919) % keys.count] }
        let text = (keys + again).flatMap(\.self)
        let found = Self.matches(text, values: (0..<text.count / 16).map { $0 * 16..<$0 * 16 + 16 })
        // Of those that came shortly before, deflate sees some.
        #expect(found.literals.count * 10 < text.count * 6)
        #expect(try Self.size(found) * 10 < text.count * 7)
        let prose = Kind.prose.text(choices)
        #expect(Self.matches(prose).literals.count * 10 > prose.count * 9)
    }
}
