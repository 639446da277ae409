import Foundation
import ShipProtocol
import SystemPackage
import TestSupport
import Testing

/// A path of any bytes as text.
@Suite struct PathTextTests {
    /// Pieces of names: plain, of several bytes, cut off, and those that look like what stands for a byte.
    private static let pieces: [[UInt8]] = [
        Array("a".utf8), Array(".db".utf8), Array("é".utf8), [0x65, 0xCC, 0x81], [0xFC], [0xEF, 0xBF, 0xBD],
        [0xE2, 0x82],
        [0xF4, 0x8F, 0xBB, 0xBC], [0xF4, 0x8F, 0xBA, 0x80], [0xED, 0xA0, 0x80], [0xC0, 0xAF], [0x80], [0xFF],
        [0xF0, 0x9F],
        Array("🚢".utf8), Array("\n".utf8), Array("\\xFC".utf8), Array("%FC".utf8),
    ]

    private static func name(_ random: inout RepeatableRandom) -> [UInt8] {
        (0..<Int.random(in: 1...6, using: &random)).flatMap { _ in
            Bool.random(using: &random)
                ? pieces.randomElement(using: &random) ?? [] : [UInt8.random(in: 1...255, using: &random)]
        }.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: "|") : $0 }
    }

    @Test(arguments: 1...8)
    func `is told apart from every other, and read again as it was`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        var seen: [String: [UInt8]] = [:]
        for _ in 1...2000 {
            let bytes = Self.name(&random)
            let text = PathText.text(of: bytes)
            #expect(PathText.bytes(of: text) == bytes, "seed \(seed)")
            #expect(PathText.isPlain(text) == (String(validating: bytes, as: UTF8.self) == text), "seed \(seed)")
            #expect(FilePath(text: "d/" + text).bytes == FilePath("d").appending(text: text).bytes, "seed \(seed)")
            // As JSON carries it.
            let json = try JSONEncoder().encode([text])
            let written = ForeignText.escapedInJSON(String(decoding: json, as: UTF8.self))
            let read = try JSONDecoder().decode([String].self, from: Data(written.utf8))
            #expect(read.map(PathText.bytes) == [bytes], "seed \(seed)")
            seen[ForeignText.escapedInJSON(text)] = bytes
        }
        for (text, bytes) in seen {
            #expect(ForeignText.escapedInJSON(PathText.text(of: bytes)) == text, "seed \(seed)")
        }
    }

    @Test func `is printed with its bytes`() {
        let path = FilePath(bytes: Array("M".utf8) + [0xFC] + Array("ller.db".utf8))
        let words: PrintableText = "\(path) and \(path.lastComponent ?? "x")"
        #expect(words.text == "M\\xFCller.db and M\\xFCller.db")
        #expect(path.stemText == "M\u{10FEFC}ller")
    }
}
