import Foundation
import TestSupport
import Testing

@testable import ShipProtocol

@Suite struct `The text of a publication` {
    @Test func `has the dictionary that the protocol says`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let file = try String(
            contentsOf: folder.appending(path: "Protocol/publication-dictionary.txt"), encoding: .ascii)
        let lines = file.split(separator: "\n").map { line in
            ContentDigest.bytes(line.utf8.count / 2, ofHex: line) ?? Array(line.utf8)
        }
        #expect(lines.contains { $0.starts(with: [0x02, 0x00]) })
        #expect(PublicationText.dictionary == lines.flatMap(\.self))
    }

    @Test(arguments: 0..<UInt64(Soak.isOn ? 2000 : 100))
    func `takes half a byte for a digit, none for digits that come again, and comes back whole`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let digests = (0..<10).map { _ in ContentDigest(sha256: random.bytes(32)).hex }
        let packed = { (digests: [String]) in
            PublicationText.packed(Array("[\"\(digests.joined(separator: "\",\""))\"]".utf8))
        }
        #expect(packed(digests).count < 10 * 32 + 30)
        #expect(packed(digests + digests.reversed()).count < 10 * 32 + 60)
        // Any bytes may follow a mark.
        let some: [[UInt8]] = ["\"", "\"!", "\"#", "\"$", "\"%1", "\"&", "\"\(digests[0])\"", digests[1]].map {
            Array($0.utf8)
        }
        let bytes = (0..<Int.random(in: 0...300, using: &random)).flatMap { _ in
            some.randomElement(using: &random) ?? random.bytes(3)
        }
        #expect(try PublicationText.unpacked(PublicationText.packed(bytes)[...]) == bytes)
        // A digest that came more strings before than a byte can say comes anew.
        let many = (digests + (0..<300).map { _ in ContentDigest(sha256: random.bytes(32)).hex } + digests)
        let text = Array("[\"\(many.joined(separator: "\",\""))\"]".utf8)
        #expect(try PublicationText.unpacked(PublicationText.packed(text)[...]) == text)
    }

    @Test func `brings no more than there is, and becomes no longer than it may`() throws {
        let digits = Array("\"\(String(repeating: "ab", count: 32))\"".utf8)
        let packed = PublicationText.packed(digits)
        for wrong in [packed + [0], Array(packed.dropLast())] {
            #expect(throws: ProtocolError.damaged(.message(FrameType.manifest.rawValue))) {
                try PublicationText.unpacked(wrong[...])
            }
        }
        // Each is two bytes of the stream, once the first one has come.
        let most = Array(repeating: digits, count: Limits.publicationText / digits.count).flatMap(\.self)
        #expect(try PublicationText.unpacked(PublicationText.packed(most)[...]) == most)
        let longer = PublicationText.packed(most + digits)
        #expect(longer.count < 10_000)
        #expect(throws: ProtocolError.self) { try PublicationText.unpacked(longer[...]) }
    }
}
