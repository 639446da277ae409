import Foundation
import Testing

@testable import ShipProtocol

@Suite struct `A packed manifest` {
    private static let json = Array(
        """
        {"createdAt":"2026-11-20T19:04:05Z","name":"Recipes","producer":{"software":"ship-store 0.1.0","sqlite":"3.40.1"},\
        "store":{"applicationID":0,"pageCount":1,"pageSize":4096,"schemaSHA256":"\(digest)","sha256":"\(digest)",\
        "size":4096,"textEncoding":"UTF-8","userVersion":0},"tables":{"recipe":{"digest":"0123456789abcdef","rows":3}}}
        """.utf8)
    private static let digest = String(repeating: "0123456789abcdef", count: 4)

    @Test func `has the dictionary that the protocol says`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = try Data(contentsOf: folder.appending(path: "Protocol/manifest-dictionary.txt"))
        #expect(ManifestDictionary.bytes == file.filter { $0 != UInt8(ascii: "\n") })
    }

    @Test func `is a third of its JSON, and comes back whole`() throws {
        let packed = try PackedManifest.packing(Self.json)
        #expect(packed.first == 1)
        #expect(3 * packed.count < Self.json.count)
        #expect(try PackedManifest.unpacking(packed[...]) == Self.json)
    }

    @Test(arguments: ["", "{}", "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}"])
    func `stays as it is where deflate does not help`(json: String) throws {
        let packed = try PackedManifest.packing(Array(json.utf8))
        #expect(packed == [0] + Array(json.utf8))
        #expect(try PackedManifest.unpacking(packed[...]) == Array(json.utf8))
    }

    @Test func `ends in an error wherever it is cut`() throws {
        let packed = try PackedManifest.packing(Self.json)
        for count in 1..<packed.count {
            #expect(throws: ProtocolError.damaged(.manifest)) { try PackedManifest.unpacking(packed[..<count]) }
        }
    }

    @Test func `of any length up to the limit comes back, and no longer one`() throws {
        for count in [65_535, 65_536, 65_537, 131_072, Limits.manifestSize] {
            let json = [UInt8](repeating: UInt8(ascii: " "), count: count)
            #expect(try PackedManifest.unpacking(PackedManifest.packing(json)[...]) == json)
        }
        let json = [UInt8](repeating: UInt8(ascii: " "), count: Limits.manifestSize + 1)
        let tooLong = ProtocolError.payloadTooLong(type: 2, length: 4_194_305, limit: 4_194_304)
        #expect(throws: tooLong) { try PackedManifest.packing(json) }
    }
}
