import Foundation
import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Texts in base64, through a segment and back.
@Suite struct Base64Tests {
    static let forms = (0..<4 as Range<UInt8>).compactMap { Base64Form(number: $0) }

    private static func strings(_ values: [[UInt8]]) -> Strings {
        var strings = Strings()
        for value in values { strings.append(value) }
        return strings
    }

    /// As Foundation writes it.
    private static func text(of bytes: [UInt8], _ form: Base64Form) -> [UInt8] {
        var text = Data(bytes).base64EncodedString()
        if form.isForURLs {
            text = text.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        }
        if !form.isPadded { text = text.replacingOccurrences(of: "=", with: "") }
        return Array(text.utf8)
    }

    private static func group(_ values: [[UInt8]]) -> RowGroup {
        RowGroup(
            values.map { [.text(String(decoding: $0, as: UTF8.self))] }, rowids: (0..<values.count).map { Int64($0) })
    }

    @Test(arguments: forms) func `bytes are written as they are elsewhere, and read back`(form: Base64Form) {
        var dice = RepeatableRandom(seed: 1)
        for count in 0..<200 {
            let bytes = dice.bytes(count)
            let text = form.text(of: bytes)
            #expect(text == Self.text(of: bytes, form))
            #expect(form.bytes(of: text[...]) == bytes)
        }
    }

    /// Whatever is read comes back as it was, or is not read.
    @Test(arguments: forms) func `no other text is read`(form: Base64Form) {
        var dice = RepeatableRandom(seed: 2)
        var read = 0
        for _ in 0..<20_000 {
            var text = form.text(of: dice.bytes(Int.random(in: 0...9, using: &dice)))
            if !text.isEmpty {
                let place = Int.random(in: 0..<text.count, using: &dice)
                switch Int.random(in: 0..<4, using: &dice) {
                case 0: text[place] = Array("=+/-_ A\n\u{0}~".utf8).randomElement(using: &dice) ?? 0
                case 1: text.remove(at: place)
                case 2: text.append(UInt8(ascii: "="))
                default: text[place] = UInt8.random(in: 32...127, using: &dice)
                }
            }
            guard let bytes = form.bytes(of: text[...]) else { continue }
            read += 1
            #expect(form.text(of: bytes) == text)
        }
        #expect((1000..<19_000).contains(read))
    }

    @Test(arguments: forms) func `what is written in base64 goes as what it is`(form: Base64Form) throws {
        var dice = RepeatableRandom(seed: 3)
        let contents = (0..<300).map { row in
            Array(
                #"{"id":\#(row),"name":"user\#(Int.random(in: 0...99, using: &dice))","is":["new","read"],"of":"\#(row % 9)~~?"}"#
                    .utf8)
        }
        let texts = contents.map { Self.text(of: $0, form) }
        for effort in SegmentTests.efforts {
            var areas = SegmentAreas()
            ColumnEncoder(effort: effort, cost: try TrialCost(effort: effort)).encode(Self.strings(texts), into: &areas)
            #expect(Array(areas.control.prefix(2)) == [StringTag.base64.rawValue, form.number])
            try SegmentTests.expectSame([Self.group(texts)], .modern, effort)
        }
        #expect(
            try SegmentTests.segment([Self.group(texts)]).count < SegmentTests.segment([Self.group(contents)]).count
                + 40)
    }

    @Test(arguments: 0..<60 as Range<UInt64>) func `any texts come back`(seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        let form = Self.forms.randomElement(using: &dice) ?? Self.forms[0]
        let noise = Bool.random(using: &dice)
        var texts = (0..<Int.random(in: 1...80, using: &dice)).map { _ in
            let bytes = dice.bytes(Int.random(in: 0...120, using: &dice))
            return Self.text(of: noise ? bytes : bytes.map { $0 & 15 }, form)
        }
        if Bool.random(using: &dice) {
            let odd = ["====", "QQ", "QR==", "a b", "", "-_", "+/", "AAAA\n"].randomElement(using: &dice) ?? ""
            texts[Int.random(in: 0..<texts.count, using: &dice)] = Array(odd.utf8)
        }
        for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(texts)], .modern, effort) }
    }
}
