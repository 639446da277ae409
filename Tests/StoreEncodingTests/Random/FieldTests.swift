import RandomStores
import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import StoreEncoding

/// Fields of several kinds in one text: what suits one of them must not keep the others from what suits them.
@Suite struct FieldTests {
    /// A kind of field, and how its values are drawn.
    enum Kind: CaseIterable {
        case hexadecimal, uuid, identifier, price, position, time, date, address, file, words, escapes, flag

        func maker(_ choices: Choices) -> () -> String {
            let vocabulary = (0..<400).map { _ in choices.inventedWord() }
            var last = 1_700_000_000_000
            func hex(_ count: Int) -> String {
                choices.bytes(count).map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
            }
            switch self {
            case .hexadecimal: return { "\"\(hex(12))\"" }
            case .uuid: return { "\"\([4, 2, 2, 2, 6].map(hex).joined(separator: "-"))\"" }
            case .identifier:
                return { "\"1\(100_000_000 + choices.below(900_000_000))\(100_000_000 + choices.below(900_000_000))\"" }
            case .price: return { "\(1 + choices.below(99)).\(10 + choices.below(90))" }
            case .position: return { "\(choices.below(90)).\(100_000 + choices.below(900_000))" }
            case .time:
                return {
                    last += choices.below(5000)
                    return "\(last)"
                }
            case .date:
                return {
                    let (month, day) = (10 + choices.below(3), 10 + choices.below(19))
                    let clock = (0..<3).map { _ in String(100 + choices.below(60)).dropFirst() }
                    return "\"2024-\(month)-\(day)T\(clock.joined(separator: ":"))Z\""
                }
            case .address: return { "\"\((0..<4).map { _ in "\(choices.below(256))" }.joined(separator: "."))\"" }
            case .file: return { "\"IMG_\(String(10_000 + choices.below(10_000)).dropFirst()).HEIC\"" }
            case .words: return { "\"\((0..<6).map { _ in choices.pick(vocabulary) }.joined(separator: " "))\"" }
            case .escapes:
                let words = vocabulary.prefix(60).map { word in
                    word.utf8.map { "\\u04" + String(0x30 + Int($0 % 32), radix: 16) }.joined()
                }
                return { "\"\(choices.pick(words)) \(choices.pick(words))\"" }
            case .flag: return { choices.pick(["true", "false", "null"]) }
            }
        }
    }

    @Test(arguments: 0..<40 as Range<UInt64>) func `take no more together than alone`(seed: UInt64) throws {
        let choices = Choices(seed: seed)
        let kinds = (0..<2 + choices.below(3)).map { _ in choices.pick(Kind.allCases) }
        let makers = kinds.map { $0.maker(choices) }
        let rows = (0..<1500).map { _ in makers.enumerated().map { "\"\($0)\": \($1())" } }
        func size(_ texts: [String]) throws -> Int {
            let group = RowGroup(texts.map { [.text("{\($0)}")] }, rowids: (0..<texts.count).map { Int64($0) })
            try SegmentTests.expectSame([group])
            return try SegmentTests.segment([group]).count
        }
        let alone = try kinds.indices.reduce(0) { sum, field in try sum + size(rows.map { $0[field] }) }
        let together = try size(rows.map { $0.joined(separator: ", ") })
        // Alone, characters that are spelled by their numbers are words, and their column has few values.
        let share = kinds.contains(.escapes) ? 150 : 115
        #expect(together * 100 < alone * share + 120_000, "SEED=\(seed) \(kinds): \(together) of \(alone) bytes")
    }
}
