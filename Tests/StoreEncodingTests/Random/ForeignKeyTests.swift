import RandomStores
import RandomValues
import ShipCompression
import StoreFormat
import TestSupport
import Testing

@testable import StoreEncoding

/// Random identifiers that rows of another table name, by themselves or within texts: in whichever encoding, they are in the segment once.
@Suite struct ForeignKeyTests {
    private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_")

    /// Identifiers of one random form: how many digits of which, with what begins and ends them.
    private static func identifiers(_ count: Int, _ choices: Choices) -> [String] {
        let length = 16 + choices.below(16)
        let base = choices.pick([16, 32, 36, 62, 64, 64])
        let (start, end) = (choices.pick(["", "", "c", "01H", "usr_"]), choices.pick(["", "", "=="]))
        return (0..<count).map { _ in
            start + (0..<length).map { _ in String(digits[choices.below(base)]) }.joined() + end
        }
    }

    private static func size(_ tables: [[String]], _ effort: SegmentEffort) throws -> Int {
        var content = SegmentContent(.modern)
        for texts in tables {
            content.add(RowGroup(texts.map { [.text($0)] }, rowids: (0..<texts.count).map { Int64($0) }))
        }
        return try content.encoded(effort).count
    }

    @Test(arguments: 0..<30 as Range<UInt64>) func `a name takes few bytes where it stands again`(seed: UInt64) throws {
        let choices = Choices(seed: seed)
        let keys = Self.identifiers(3000, choices)
        let (before, after) = choices.pick([
            ("", ""), ("https://example.org/items/", "?page=2"), ("{\"item\": \"", "\", \"new\": true}"),
        ])
        var order = Array(keys.indices)
        for place in order.indices.reversed() { order.swapAt(place, choices.below(place + 1)) }
        let names = order.prefix(2000).map { before + keys[$0] + after }
        let effort = SegmentEffort(choices.pick([.quick, .standard]))
        let alone = try Self.size([keys], effort)
        let named = try Self.size(choices.chance(50) ? [keys, names] : [names, keys], effort) - alone
        #expect(named < 2000 * 9, "SEED=\(seed) \(keys[0]) in \(before): \(named) bytes for 2,000 names")
    }
    /// Each look is at the whole segment: a wide table would have hundreds.
    @Test func `a column of a small part of a segment is not looked for`() {
        var own = Strings()
        for key in Self.identifiers(100, Choices(seed: 1)) { own.append(key.utf8) }
        let names = [own.bytes, own.bytes]
        func share(in contents: [[UInt8]]) -> Double {
            TokenSearch.share(of: (0..<own.count).map { own[$0] }, in: contents, besides: own)
        }
        #expect(share(in: names) > 0.9)
        #expect(share(in: [own.bytes]) == 0)
        #expect(share(in: names + [[UInt8](repeating: 0, count: own.bytes.count * 64)]) == 0)
    }
}
