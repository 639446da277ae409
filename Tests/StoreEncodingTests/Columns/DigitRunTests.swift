import Foundation
import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Texts that hold runs of hexadecimal digits, through a segment and back.
@Suite struct DigitRunTests {
    private static func hexadecimal(_ count: Int, _ dice: inout RepeatableRandom, isUpper: Bool = false) -> String {
        let digits = Array(isUpper ? "0123456789ABCDEF" : "0123456789abcdef")
        return String((0..<count).map { _ in digits[Int.random(in: 0..<16, using: &dice)] })
    }

    private static func uuid(_ dice: inout RepeatableRandom) -> String {
        [8, 4, 4, 4, 12].map { hexadecimal($0, &dice) }.joined(separator: "-")
    }

    /// What apps keep, of one kind.
    enum Kind: CaseIterable {
        case links, documents, upper, lengths

        func text(_ dice: inout RepeatableRandom) -> String {
            switch self {
            case .links:
                "https://news.example/click?u=\(hexadecimal(64, &dice))&n=\(Int.random(in: 0...99, using: &dice))"
            case .documents: "{\"id\": \"\(uuid(&dice))\", \"parent\": \"\(uuid(&dice))\", \"kind\": \"note\"}"
            case .upper: "<key name=\"K\">\(hexadecimal(40, &dice, isUpper: true))</key><state>open</state>"
            case .lengths:
                "commit \(hexadecimal(40, &dice)) tree \(hexadecimal(16, &dice)) by \(hexadecimal(9, &dice))."
            }
        }
    }

    private static func group(_ texts: [String]) -> RowGroup {
        RowGroup(texts.map { [.text($0)] }, rowids: (0..<texts.count).map { Int64($0) })
    }

    @Test(arguments: Kind.allCases, [1, 2] as [UInt64])
    func `runs go by their bytes, and come back in their case`(kind: Kind, seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        var texts = (0..<400).map { _ in kind.text(&dice) }
        let asText = try #require(try Deflate.raw(of: Array(texts.joined(separator: "\0").utf8), level: 12)).count
        let size = try SegmentTests.segment([Self.group(texts)]).count
        #expect(size * 100 < asText * 96, "\(size) of \(asText) bytes")
        for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(texts)], .modern, effort) }
        // Cut runs, odd ones, runs beside each other and beside other digits, of both cases, and UUIDs that are none.
        for index in texts.indices where index % 2 == 0 {
            let odd = [
                Self.hexadecimal(7, &dice), Self.hexadecimal(9, &dice), Self.uuid(&dice) + "0", "0" + Self.uuid(&dice),
                Self.hexadecimal(8, &dice, isUpper: true), "1234567890", "deadbeef",
                String(Self.uuid(&dice).dropLast()),
            ]
            let place = Int.random(in: 0...texts[index].count, using: &dice)
            let cut = texts[index].index(texts[index].startIndex, offsetBy: place)
            texts[index].insert(contentsOf: odd[index / 2 % odd.count], at: cut)
        }
        try SegmentTests.expectSame([Self.group(texts)])
        texts[texts.count / 2] += "\u{1}\u{2}\u{8}"
        try SegmentTests.expectSame([Self.group(texts)])
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `any text of digits and hyphens comes back`(seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        let alphabet = Array("0123456789abcdefabcdefABCDEF--g \n".utf8)
        for _ in 0..<200 {
            let texts = (0..<Int.random(in: 1...30, using: &dice)).map { _ in
                let size = Int.random(in: 0...200, using: &dice)
                let text = (0..<size).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &dice)] }
                return String(decoding: text, as: UTF8.self) + (Bool.random(using: &dice) ? Self.uuid(&dice) : "")
            }
            try SegmentTests.expectSame([Self.group(texts)])
        }
    }

    @Test func `an altered segment of runs ends in an error or in other rows`() throws {
        var dice = RepeatableRandom(seed: 5)
        let texts = (0..<40).map { _ in Kind.documents.text(&dice) }
        let content = try StoredSegment.bytes(of: SegmentTests.segment([Self.group(texts)]))
        SegmentTests.readAltered(content)
    }

    /// A run that stands in all texts is part of what is the same in them, and an id of few takes a match in longer ones.
    @Test func `what comes again all the time stays as it is`() throws {
        var dice = RepeatableRandom(seed: 6)
        let ids = (0..<8).map { _ in Self.uuid(&dice) }
        let texts = (0..<400).map { "{\"type\": \"Observation\", \"of\": \"\(ids[$0 / 50])\", \"n\": \($0)}" }
        let size = try SegmentTests.segment([Self.group(texts)]).count
        #expect(size < 1400, "\(size) bytes")
    }
}
