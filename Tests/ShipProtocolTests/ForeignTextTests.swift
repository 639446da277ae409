import Foundation
import ShipProtocol
import Testing

@Suite struct `Text that somebody else wrote` {
    /// What a terminal acts upon, what turns text around, and what nobody sees.
    static let unsafe: [Unicode.Scalar] =
        (Array(0...0x1F) + Array(0x7F...0x9F)
        + [
            0xAD, 0x34F, 0x61C, 0x115F, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2028, 0x2029, 0x202A, 0x202B,
            0x202C, 0x202D, 0x202E, 0x2060, 0x2061, 0x2066, 0x2067, 0x2068, 0x2069, 0x2800, 0x3164, 0xE000, 0xFE0F,
            0xFEFF,
            0xFFA0, 0xFFF9, 0xFFFF, 0x1_D173, 0xE_0001, 0xE_0041, 0x10_FFFF,
        ]).compactMap(Unicode.Scalar.init)

    @Test(arguments: unsafe)
    func `is printed escaped, however it is printed`(scalar: Unicode.Scalar) {
        let text = ForeignText("a\(scalar)b")
        let error = ProtocolError.badMessage(type: 2, flaw: text)
        let words: PrintableText = "\(text)" + "\(text.unescaped)"
        let printings: [String] = [
            "\(text)", String(reflecting: text), String(describing: [text]), String(describing: text as ForeignText?),
            "\(["k": text])", "\(error)", String(reflecting: error), words.text,
        ]
        for printed in printings {
            #expect(!printed.unicodeScalars.contains(scalar), "\(printed.debugDescription)")
        }
        var dumped = ""
        dump(text, to: &dumped)
        #expect(scalar == "\n" || !dumped.unicodeScalars.contains(scalar))
        #expect(text.unescaped.unicodeScalars.contains(scalar))
    }

    @Test(arguments: ["Crème brûlée", "料理", "ابجد", "🍲 = soup", "a\\b", "1 < 2 & \"3\"", "क्षि", "", "│ ░█"])
    func `stays as it is where it is harmless`(text: String) {
        #expect(ForeignText(text).text == text)
        let words: PrintableText = "\(text)"
        #expect(words.text == text)
    }

    @Test func `what is escaped once stays as it is`() {
        let once = ForeignText("\u{1B}[2J\r\n\t\u{202E}x\u{7F}\u{9B}").text
        #expect(once == "\\u{1B}[2J\\r\\n\\t\\u{202E}x\\u{7F}\\u{9B}")
        #expect(ForeignText(once).text == once)
    }

    @Test func `a long one is cut`() {
        #expect(ForeignText(String(repeating: "\u{1B}", count: 5000)).text.utf8.count == 1200 * 6 + 3)
        #expect(ForeignText(String(repeating: "é", count: 1200)).text.hasSuffix("é"))
    }

    @Test func `is another one where its bytes are, though Swift takes them for the same`() {
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        #expect(composed == decomposed)
        #expect(ForeignText(composed) != ForeignText(decomposed))
        #expect(Set([ForeignText(composed), ForeignText(decomposed)]).count == 2)
    }

    @Test func `own words keep their own controls, and what is put into them does not`() {
        let words: PrintableText = "a\n\("b\nc")" + "\u{1B}"
        #expect(words.text == "a\nb\\nc\u{1B}")
        let more: PrintableText = "\(words)!"
        #expect(more.text == words.text + "!")
        let list: [PrintableText] = ["a", "\("\r")"]
        #expect(list.joined(separator: ", ").text == "a, \\r")
    }

    @Test(arguments: unsafe)
    func `in JSON is escaped as JSON does, and comes back`(scalar: Unicode.Scalar) throws {
        let value = ["a\(scalar)": ["\(scalar)\"\\é🍲"]]
        let json = ForeignText.escapedInJSON(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))
        #expect(!json.unicodeScalars.contains(scalar))
        #expect(json.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        #expect(try JSONDecoder().decode([String: [String]].self, from: Data(json.utf8)) == value)
        let text = ForeignText("a\(scalar)")
        let coded = try JSONEncoder().encode([text: [text]])
        #expect(try JSONDecoder().decode([ForeignText: [ForeignText]].self, from: coded) == [text: [text]])
    }
}
