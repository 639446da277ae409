import Foundation
import Testing

@testable import ShipProtocol

@Suite struct `A packed message` {
    private static let json = Array(
        """
        {"createdAt":"2026-11-20T19:04:05Z","name":"Recipes","producer":{"software":"ship-store 0.1.0","sqlite":"3.40.1"},\
        "store":{"applicationID":0,"pageCount":1,"pageSize":4096,"schemaSHA256":"\(digest)","sha256":"\(digest)",\
        "size":4096,"textEncoding":"UTF-8","userVersion":0},"tables":{"recipe":{"digest":"\(digest.prefix(32))","rows":3}}}
        """.utf8)
    private static let digest = String(repeating: "0123456789abcdef", count: 4)

    @Test func `has the dictionary that the protocol says`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = try Data(contentsOf: folder.appending(path: "Protocol/message-dictionary.txt"))
        #expect(FrameType.messageDictionary == file.filter { $0 != UInt8(ascii: "\n") })
    }

    @Test func `is a third of its JSON, and comes back whole`() throws {
        let packed = try FrameType.manifest.packed(Self.json)
        #expect(packed.first == 1)
        #expect(3 * packed.count < Self.json.count)
        #expect(try FrameType.manifest.unpacked(packed[...]) == Self.json)
    }

    @Test(arguments: ["", "{}", "\u{1}\u{2}\u{3}\u{4}\u{5}\u{6}\u{7}"])
    func `stays as it is where deflate does not help`(json: String) throws {
        let packed = try FrameType.manifest.packed(Array(json.utf8))
        #expect(packed == [0] + Array(json.utf8))
        #expect(try FrameType.manifest.unpacked(packed[...]) == Array(json.utf8))
    }

    @Test func `ends in an error wherever it is cut`() throws {
        let packed = try FrameType.manifest.packed(Self.json)
        for count in 1..<packed.count {
            #expect(throws: ProtocolError.damaged(.message(2))) {
                try FrameType.manifest.unpacked(packed[..<count])
            }
        }
    }

    @Test func `of any length up to the limit comes back, and no longer one`() throws {
        for count in [65_535, 65_536, 65_537, 131_072, Limits.manifestSize] {
            let json = [UInt8](repeating: UInt8(ascii: " "), count: count)
            #expect(try FrameType.manifest.unpacked(FrameType.manifest.packed(json)[...]) == json)
        }
        let json = [UInt8](repeating: UInt8(ascii: " "), count: Limits.manifestSize + 1)
        let tooLong = ProtocolError.payloadTooLong(type: 2, length: 4_194_305, limit: 4_194_304)
        #expect(throws: tooLong) { try FrameType.manifest.packed(json) }
    }

    @Test func `that inflates to too much is told as that`() {
        var stream: [UInt8] = [1]
        for _ in 0..<65 { stream += [0, 0xff, 0xff, 0, 0] + [UInt8](repeating: 0x20, count: 65_535) }
        #expect(throws: ProtocolError.inflatedTooLong(type: 2, limit: Limits.manifestSize)) {
            try FrameType.manifest.unpacked((stream + [1, 0, 0, 0xff, 0xff])[...])
        }
    }

    @Test(arguments: [(",\"x\":[{}, []],\"y\": 7 ", true), (",\"x\":[{}, []],\"x\":7", false), (",\"x\":[{},]", false)])
    func `is checked in members that are not known, and decoded without them`(more: String, isSound: Bool) throws {
        let json = String(decoding: Self.json.dropLast(), as: UTF8.self) + more + "}"
        guard isSound else {
            #expect(throws: ProtocolError.self) { try Manifest(decoding: Array(json.utf8)) }
            return
        }
        #expect(try Manifest(decoding: Array(json.utf8)) == Manifest(decoding: Self.json))
        let kept = try JSONSyntax.checked(Array(json.utf8)[...], as: .manifest, keeping: ["name", "tables"])
        #expect(String(decoding: kept, as: UTF8.self).hasPrefix("{\"name\":\"Recipes\",\"tables\":"))
    }

    @Test func `that differs in little from what is held takes little`() throws {
        let base = ManifestContent(json: Self.json)
        var held = HeldContents()
        let isHeld = held.hold(base)
        #expect(isHeld)
        let later = Array(String(decoding: Self.json, as: UTF8.self).replacing("19:04:05", with: "21:37:00").utf8)
        let packed = try FrameType.manifest.packed(later, over: base)
        #expect(packed.first == 2)
        #expect(packed.count < 48)
        #expect(try FrameType.manifest.unpacked(packed[...], over: held) == later)
        #expect(throws: ProtocolError.self) { try FrameType.manifest.unpacked(packed[...]) }
        #expect(throws: ProtocolError.self) { try FrameType.hello.unpacked(packed[...], over: held) }
    }

    @Test func `that has nothing in common with what is held refers to it only if it must`() throws {
        let base = ManifestContent(json: Self.json)
        var held = HeldContents()
        _ = held.hold(base)
        let other = [UInt8](repeating: 7, count: 100)
        #expect(try FrameType.manifest.packed(other, over: base).first != 2)
        let packed = try FrameType.manifest.packed(other, over: base, mustRefer: true)
        #expect(packed.first == 2)
        #expect(try FrameType.manifest.unpacked(packed[...], over: held) == other)
    }

    @Test func `refers to no more than there is room for`() throws {
        var held = HeldContents()
        let halves = (0..<3).map { ManifestContent(json: [UInt8](repeating: $0, count: Limits.heldContents / 2)) }
        // What is held already takes no more room.
        let areHeld = (halves + [halves[0]]).map { held.hold($0) }
        #expect(areHeld == [true, true, false, true])
        #expect(held[halves[1].id] == halves[1])
        #expect(held[halves[2].id] == nil)
    }
}
