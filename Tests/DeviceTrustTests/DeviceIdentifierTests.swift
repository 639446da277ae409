import Crypto
import DeviceTrust
import SystemPackage
import TestSupport
import Testing

@Suite struct `A device's id` {
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")

    /// The SHA-256 of "abc" [FIPS 180-2 appendix B.1], written by the rules alone, in Python.
    @Test func `is the SHA-256 of the certificate, in groups with check characters`() {
        let id = DeviceIdentifier(ofCertificate: Array("abc".utf8))
        #expect(id.bytes.prefix(4) == [0xBA, 0x78, 0x16, 0xBF])
        #expect(id.text == "Q9W11-DFWFJ-077YN-MGA1E-83F5N-VBH26-4ER0D-6RD3P-JRBQ6-N75MG-23ZP3-3WG06-2PPGP")
    }

    @Test func `is read however people write it`() throws {
        let id = DeviceIdentifier(ofCertificate: Array("abc".utf8))
        let variants = [
            id.text, id.text.lowercased(), id.text.replacing("-", with: ""), id.text.replacing("-", with: " "),
            "  \(id.text)\n", id.text.replacing("0", with: "O"), id.text.replacing("1", with: "l"), id.pictureText,
            "ship-store:\(id.text)", id.text.replacing("1", with: "I").lowercased(),
        ]
        for variant in variants { #expect(try DeviceIdentifier(variant) == id, "\(variant)") }
    }

    @Test func `shows in which group a character is wrong`() throws {
        let text = DeviceIdentifier(ofCertificate: Array("abc".utf8)).text
        for (place, character) in text.enumerated() where character != "-" {
            for other in Self.alphabet where other != character {
                var wrong = Array(text)
                wrong[place] = other
                let error = #expect(throws: DeviceIdentifierError.self) { try DeviceIdentifier(String(wrong)) }
                guard case .badGroup(let group, _) = error else { Issue.record("\(String(describing: error))"); return }
                #expect(group == place / 6 + 1)
            }
        }
    }

    @Test func `shows that characters or groups have changed places`() throws {
        var random = RepeatableRandom(seed: 7)
        for _ in 0..<50 {
            let id = DeviceIdentifier(ofCertificate: (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) })
            let characters = Array(id.text)
            for place in characters.indices.dropLast() where characters[place] != characters[place + 1] {
                guard characters[place] != "-", characters[place + 1] != "-" else { continue }
                var wrong = characters
                wrong.swapAt(place, place + 1)
                #expect(throws: DeviceIdentifierError.self) { try DeviceIdentifier(String(wrong)) }
            }
            let groups = id.text.split(separator: "-")
            for first in 0..<12 where groups[first] != groups[first + 1] {
                var wrong = groups
                wrong.swapAt(first, first + 1)
                #expect(throws: DeviceIdentifierError.self) { try DeviceIdentifier(wrong.joined(separator: "-")) }
            }
        }
    }

    @Test func `is not what is too short, too long or of other characters`() {
        let text = DeviceIdentifier(ofCertificate: []).text
        #expect(throws: DeviceIdentifierError.badLength(0, expected: 65)) { try DeviceIdentifier("") }
        #expect(throws: DeviceIdentifierError.badLength(64, expected: 65)) {
            try DeviceIdentifier(String(text.dropLast()))
        }
        #expect(throws: DeviceIdentifierError.badLength(66, expected: 65)) { try DeviceIdentifier(text + "0") }
        #expect(throws: DeviceIdentifierError.badCharacter("U")) { try DeviceIdentifier("u" + text.dropFirst()) }
        #expect(throws: DeviceIdentifierError.badCharacter("\u{E9}".uppercased())) {
            try DeviceIdentifier("\u{E9}" + text.dropFirst())
        }
    }

    @Test func `comes back from its text, whatever its bytes`() throws {
        var random = RepeatableRandom(seed: 11)
        let samples = (0..<200).map { _ in (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) } }
        for bytes in samples + [[UInt8](repeating: 0, count: 32), [UInt8](repeating: 255, count: 32)] {
            let id = try #require(DeviceIdentifier(bytes: bytes))
            #expect(try DeviceIdentifier(id.text).bytes == bytes)
        }
    }
}

@Suite struct EncryptionKeyTests {
    @Test func `is read as it is written, and is no id`() throws {
        for _ in 0..<50 {
            let key = DecryptionKey().encryptionKey
            #expect(try EncryptionKey(key.text) == key)
            #expect(try EncryptionKey(key.text.lowercased().replacing("-", with: " ")) == key)
            #expect(throws: DeviceIdentifierError.self) { try DeviceIdentifier(key.text) }
            let id = try #require(DeviceIdentifier(bytes: key.bytes))
            #expect(throws: DeviceIdentifierError.self) { try EncryptionKey(id.text) }
        }
    }

    @Test func `is one for a device, whoever asks first`() async throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path.appending("ship-store")
        let keys = try await withThrowingTaskGroup(of: EncryptionKey.self) { group in
            for _ in 0..<8 {
                group.addTask(executorPreference: TestThreads.shared) { () async throws -> EncryptionKey in
                    try DeviceFolder(at: folder).decryptionKey().encryptionKey
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        let key = try #require(try DeviceFolder(at: folder).existingDecryptionKey())
        #expect(keys == [key.encryptionKey])
        // A dump shows nothing of it.
        var dumped = ""
        dump(key, to: &dumped)
        #expect(dumped.split(separator: "\n").count == 1)
    }
}
