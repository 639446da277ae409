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
        #expect(lines.contains { $0.starts(with: [0x30, 0x82]) })
        #expect(PublicationText.dictionary == lines.flatMap(\.self))
    }

    @Test(arguments: 0..<UInt64(100))
    func `is shorter where what comes before text is deflated by itself, and comes back whole`(seed: UInt64) throws {
        var random = RepeatableRandom(seed: seed)
        let binary = random.bytes(Int.random(in: 150...1000, using: &random))
        let digests = (0..<10).map { _ in ContentDigest(sha256: random.bytes(32)).hex }
        let bytes = binary + Array("{\"digests\":[\"\(digests.joined(separator: "\",\""))\"]}".utf8)
        let packed = PublicationText.packed(bytes, binary: binary.count)
        #expect(packed.count < PublicationText.packed(bytes).count)
        #expect(try PublicationText.unpacked(packed[...]) == bytes)
    }
}
