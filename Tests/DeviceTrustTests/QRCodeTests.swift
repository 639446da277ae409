import Foundation
import StoreFiles
import SystemPackage
import TestSupport
import Testing

@testable import DeviceTrust

@Suite struct `A QR code` {
    /// ISO/IEC 18004, annex I: the example of a symbol of version 1-M.
    @Test func `has the check bytes of the standard's example`() {
        let data: [UInt8] = [
            0x10, 0x20, 0x0C, 0x56, 0x61, 0x80, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11, 0xEC, 0x11,
        ]
        #expect(
            QRCode.checkBytes(of: data, count: 10)
                == [0xA5, 0x24, 0xD4, 0xC1, 0xED, 0x36, 0xC7, 0x87, 0x2C, 0x55])
    }

    /// The example that most tutorials give, "HELLO WORLD": version 1-M.
    @Test func `has the check bytes of other programs`() {
        let data: [UInt8] = [32, 91, 11, 120, 209, 114, 220, 77, 67, 64, 236, 17, 236, 17, 236, 17]
        #expect(QRCode.checkBytes(of: data, count: 10) == [196, 35, 39, 119, 235, 215, 231, 226, 93, 23])
    }

    @Test func `is not made of what it cannot hold`() {
        #expect(QRCode(String(repeating: "A", count: 88)) != nil)
        #expect(QRCode(String(repeating: "a", count: 88)) == nil)
        #expect(QRCode(String(repeating: "A", count: 87)) == nil)
        #expect(QRCode(String(repeating: "A", count: 88) + "\u{C4}") == nil)
    }

    @Test func `fits on a terminal`() throws {
        let code = try #require(QRCode(DeviceIdentifier(ofCertificate: []).pictureText))
        for blackOnWhite in [true, false] {
            let lines = code.lines(blackOnWhite: blackOnWhite)
            #expect(lines.count == 21)
            let plain = lines.map { $0.filter { " █▀▄".contains($0) } }
            #expect(plain.allSatisfy { $0.count == 41 })
            // The quiet zone is light, and drawn.
            #expect(plain.first == String(repeating: "█", count: 41))
        }
    }

    @Test(.enabled(if: Reader.isThere, "zbarimg is not installed: apt-get install zbar-tools"), arguments: texts)
    func `is read by another program`(text: String) async throws {
        let folder = try ScratchFolder()
        let image = folder.path.appending("code.pgm")
        let code = try #require(QRCode(text))
        try OpenFile.creating(image).write(code.image(scale: 4))
        let reading = try await ChildProgram(
            Reader.path, ["--quiet", "--raw", "-Sdisable", "-Sqrcode.enable", image.string]
        ).wait()
        #expect(reading.stdout == text + "\n", "\(reading.stderr)")
    }

    private static let texts =
        [String(repeating: "HELLO WORLD", count: 8), String(repeating: "01234567", count: 11)]
        + [String(repeating: "A", count: 88), String(repeating: "$%*+-./: Z7", count: 8)]
        + (0..<20).map { DeviceIdentifier(ofCertificate: [$0]).pictureText }

    private enum Reader {
        static let path: FilePath = "/usr/bin/zbarimg"
        static let isThere = (try? PlatformCalls.statusFollowingLinks(of: path)) != nil
    }
}

extension QRCode {
    /// A grey picture [netpbm.sourceforge.net/doc/pgm.html], each module `scale` pixels wide.
    fileprivate func image(scale: Int) -> [UInt8] {
        let edge = Self.quietZone
        let width = (Self.side + 2 * edge) * scale
        var bytes = Array("P5 \(width) \(width) 255\n".utf8)
        for row in 0..<width {
            for column in 0..<width {
                bytes.append(self[row: row / scale - edge, column: column / scale - edge] ? 0 : 255)
            }
        }
        return bytes
    }
}
