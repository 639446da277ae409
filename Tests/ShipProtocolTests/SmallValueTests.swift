import Foundation
import ShipProtocol
import Testing

@Suite struct `A small value` {
    @Test func `a checksum has the published check value`() {
        // The check value of CRC-32/ISO-HDLC.
        #expect(UInt32(crc32Of: "123456789".utf8) == 0xCBF4_3926)
        #expect(UInt32(crc32Of: []) == 0)
    }

    @Test func `a checksum is the same however its bytes come`() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        #expect(UInt32(crc32Of: bytes.lazy.map { $0 }) == UInt32(crc32Of: bytes))
    }

    @Test func `a digest is 64 lower-case digits and nothing else`() throws {
        let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        let digest = try #require(ContentDigest(hex: hex))
        #expect(digest.hex == hex)
        #expect(digest.short == "e3b0c442")
        #expect(ContentDigest(bytes: digest.bytes) == digest)
        for wrong in [
            "", hex.uppercased(), hex + "0", String(hex.dropLast()), "g" + hex.dropFirst(), "+" + hex.dropFirst(),
        ] {
            #expect(ContentDigest(hex: wrong) == nil, "\(wrong)")
        }
        #expect(ContentDigest(bytes: digest.bytes.dropLast()) == nil)
        #expect(ContentDigest(bytes: digest.bytes + [0]) == nil)
        #expect(ContentDigest(bytes: repeatElement(0, count: Int.max)) == nil)
    }

    @Test func `a time is written in one way, to the second, in UTC`() throws {
        let time = try #require(Timestamp("2026-11-20T19:04:05Z"))
        #expect(time.date == Date(timeIntervalSince1970: 1_795_201_445))
        #expect(time.text == "2026-11-20T19:04:05Z")
        #expect(time.compactText == "20261120T190405")
        #expect(Timestamp(time.date.addingTimeInterval(0.999)) == time)
        #expect(Timestamp(Date(timeIntervalSince1970: -0.5)).text == "1969-12-31T23:59:59Z")
        #expect(Timestamp("1969-12-31T23:59:59Z")?.date == Date(timeIntervalSince1970: -1))
        #expect(try #require(Timestamp("2026-11-20T19:04:04Z")) < time)
    }

    @Test(arguments: [
        "", "2026-11-20", "2026-11-20T19:04:05", "2026-11-20T19:04:05z", "2026-11-20t19:04:05Z", "2026-11-20 19:04:05Z",
        "2026-11-20T19:04:60Z", "2026-11-20T24:00:00Z", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-11-20T19:04:5ZZ",
        "2026-11-20T19:04:05+00:00", "2026-11-20T19:04:05.0Z", "2026-11-20T19:04:05Z ", "+026-11-20T19:04:05Z",
        "20261120T190405Z----", "２026-11-20T19:04:0Z",
    ])
    func `a time that is written otherwise is none`(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func `the name of an external file is a UUID in a folder of Core Data's`() throws {
        let uuid = "1F0C5D3A-6B7E-4C28-8E21-90AB34CD56EF"
        let name = try #require(ExternalFileName(folder: .fileBacked, uuid: uuid))
        #expect(name.relativePath == "_FBF/\(uuid)")
        #expect(ExternalFileName(folder: .fileBacked, uuid: uuid.lowercased()) != nil)
        for wrong in [
            "", uuid + "0", String(uuid.dropLast()), uuid.replacingOccurrences(of: "-", with: "0"),
            "../" + uuid.dropFirst(3),
        ] {
            #expect(ExternalFileName(folder: .fileBacked, uuid: wrong) == nil, "\(wrong)")
        }
    }

    @Test func `numbers are read most significant byte first`() {
        #expect(UInt32(bigEndianBytes: [0x01, 0x02, 0x03, 0x04]) == 0x0102_0304)
        var bytes: [UInt8] = []
        bytes.append(bigEndian: UInt64(0x0102_0304_0506_0708))
        #expect(bytes == [1, 2, 3, 4, 5, 6, 7, 8])
    }
}
