import Foundation
import RandomValues
import StoreFormat
import TestSupport
import Testing

@testable import ShipCompression
@testable import StoreEncoding

/// Texts in base64, through a segment and back.
@Suite struct Base64Tests {
    static let forms = Base64Form.all
    static let lines = [(4, "\n"), (64, "\\n"), (76, "\r\n"), (252, "\n\t\t  ")].map {
        Base64Lines(length: $0.0, ending: Array($0.1.utf8))
    }

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
        guard let lines = form.lines else { return Array(text.utf8) }
        let parts = stride(from: 0, to: text.utf8.count, by: lines.length).map {
            Array(text.utf8.dropFirst($0).prefix(lines.length))
        }
        return Array(parts.joined(separator: lines.ending))
    }

    /// What apps keep, with runs of base64 in it.
    enum Kind: CaseIterable {
        case token, image, mail, pem, archive

        func text(_ dice: inout RepeatableRandom) -> String {
            let name = "user\(Int.random(in: 0...999, using: &dice))"
            let words = (0..<40).map { _ in ["salt", "dill", "mint", "leek", "and"].randomElement(using: &dice) ?? "" }
            let content = Array("{\"sub\":\"\(name)\",\"text\":\"\(words.joined(separator: " "))\"}".utf8)
            let standard = Base64Form.all[0]
            func run(_ bytes: [UInt8], _ form: Base64Form, _ lines: Base64Lines? = nil) -> String {
                var form = form
                form.lines = lines
                return String(decoding: Base64Tests.text(of: bytes, form), as: UTF8.self)
            }
            switch self {
            case .token:
                let (head, url) = (Array("{\"alg\":\"HS256\"}".utf8), Base64Form.all[3])
                return
                    "{\"for\": \"\(name)\", \"token\": \"\(run(head, url)).\(run(content, url)).\(run(dice.bytes(32), url))\"}"
            case .image: return "<p>\(name)</p><img src=\"data:image/svg+xml;base64,\(run(content, standard))\"/>"
            case .mail:
                return "Subject: for \(name)\r\n\r\n\(run(content, standard, Base64Tests.lines[2]))\r\n--\r\n"
            case .pem:
                return
                    #"{"of":"\#(name)","key":"-- BEGIN --\n\#(run(content, standard, Base64Tests.lines[1]))\n-- END --"}"#
            case .archive:
                return "<data>\n\t\t  \(run(content + content, standard, Base64Tests.lines[3]))\n\t\t  </data>"
            }
        }
    }

    private static func group(_ values: [[UInt8]]) -> RowGroup {
        RowGroup(
            values.map { [.text(String(decoding: $0, as: UTF8.self))] }, rowids: (0..<values.count).map { Int64($0) })
    }

    @Test(arguments: forms, [nil] + lines.map { $0 })
    func `bytes are written as they are elsewhere, and read back`(form: Base64Form, lines: Base64Lines?) {
        var (form, dice) = (form, RepeatableRandom(seed: 1))
        form.lines = lines
        for count in 0..<400 {
            let bytes = dice.bytes(count)
            var text: [UInt8] = []
            form.append(bytes, to: &text)
            #expect(text == Self.text(of: bytes, form))
            #expect(form.size(of: count) == text.count)
            if lines == nil { #expect(form.bytes(of: text) == bytes) }
        }
    }

    /// Whatever is read comes back as it was, or is not read.
    @Test(arguments: forms) func `no other text is read`(form: Base64Form) {
        var dice = RepeatableRandom(seed: 2)
        var read = 0
        for _ in 0..<20_000 {
            var text = Self.text(of: dice.bytes(Int.random(in: 0...9, using: &dice)), form)
            if !text.isEmpty {
                let place = Int.random(in: 0..<text.count, using: &dice)
                switch Int.random(in: 0..<4, using: &dice) {
                case 0: text[place] = Array("=+/-_ A\n\u{0}~".utf8).randomElement(using: &dice) ?? 0
                case 1: text.remove(at: place)
                case 2: text.append(UInt8(ascii: "="))
                default: text[place] = UInt8.random(in: 32...127, using: &dice)
                }
            }
            guard let bytes = form.bytes(of: text) else { continue }
            read += 1
            #expect(Self.text(of: bytes, form) == text)
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
            #expect(Array(areas.control.prefix(3)) == [StringTag.digits.rawValue, 1, 4 + form.number])
            try SegmentTests.expectSame([Self.group(texts)], .modern, effort)
        }
        #expect(
            try SegmentTests.segment([Self.group(texts)]).count < SegmentTests.segment([Self.group(contents)]).count
                + 40)
    }

    @Test(arguments: forms) func `a text that is longer than what is looked at has its padding at its end`(
        form: Base64Form
    ) throws {
        var dice = RepeatableRandom(seed: 5)
        let texts = (0..<12).map { Self.text(of: dice.bytes(20_000 + $0), form) }
        for effort in SegmentTests.efforts {
            var areas = SegmentAreas()
            ColumnEncoder(effort: effort, cost: try TrialCost(effort: effort)).encode(Self.strings(texts), into: &areas)
            #expect(Array(areas.control.prefix(3)) == [StringTag.digits.rawValue, 1, 4 + form.number])
        }
    }

    /// What their contents take shows in no sample as it is, and least of all within what only stands for them.
    @Test func `long streams in base64 go as what they hold`() throws {
        var dice = RepeatableRandom(seed: 6)
        let words = (0..<3000).map { _ in
            String(
                decoding: (0..<Int.random(in: 2...9, using: &dice)).map { _ in UInt8.random(in: 97...122, using: &dice)
                }, as: UTF8.self)
        }
        let parameters = try #require(DeflateParameters(level: 6, memoryLevel: 8, windowBits: 15))
        let streams = (0..<8).map { _ in
            let items = (0..<800).map { _ in
                let text = (0..<8).map { _ in words.randomElement(using: &dice) ?? "" }.joined(separator: " ")
                return #"{"id": \#(Int.random(in: 0..<1_000_000_000, using: &dice)), "text": "\#(text)"}"#
            }
            return DeflateRecompression(Array("[\(items.joined(separator: ", "))]".utf8), parameters, .zlib).value ?? []
        }
        let group = Self.group(streams.map { Self.text(of: $0, Base64Form.all[0]) })
        #expect(try SegmentTests.segment([group]).count * 10 < streams.reduce(0) { $0 + $1.count } * 9)
        try SegmentTests.expectSame([group])
    }

    @Test(arguments: Kind.allCases) func `runs within texts go as what they are`(kind: Kind) throws {
        var dice = RepeatableRandom(seed: 4)
        let texts = (0..<200).map { _ in Array(kind.text(&dice).utf8) }
        let asText = try #require(try Deflate.raw(of: Array(texts.joined(separator: [0])), level: 12)).count
        let size = try SegmentTests.segment([Self.group(texts)]).count
        #expect(size * 10 < asText * 9, "\(size) of \(asText) bytes")
        for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(texts)], .modern, effort) }
    }

    /// Lines that are longer or shorter, other breaks, and what is cut or put in between.
    @Test(arguments: 0..<100 as Range<UInt64>) func `texts with other runs come back`(seed: UInt64) throws {
        var dice = RepeatableRandom(seed: seed)
        let kinds = Kind.allCases.filter { _ in Bool.random(using: &dice) } + [.mail]
        let odd = ["\r\n", "\n", "=", "==", "A", "\\n", " ", "\t", "AbC4", String(repeating: "Qm9v", count: 30)]
        let texts = (0..<60).map { _ in
            var text = Array((kinds.randomElement(using: &dice) ?? .mail).text(&dice).utf8)
            for _ in 0..<Int.random(in: 0...4, using: &dice) {
                let place = Int.random(in: 0..<text.count, using: &dice)
                if Bool.random(using: &dice) {
                    text.insert(contentsOf: (odd.randomElement(using: &dice) ?? "").utf8, at: place)
                } else {
                    text.removeSubrange(place..<min(text.count, place + Int.random(in: 1...5, using: &dice)))
                }
                if text.isEmpty { text = [65] }
            }
            return text
        }
        for effort in SegmentTests.efforts { try SegmentTests.expectSame([Self.group(texts)], .modern, effort) }
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
