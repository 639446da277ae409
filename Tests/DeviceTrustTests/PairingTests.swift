import Crypto
import TestSupport
import Testing

@testable import DeviceTrust

/// The vectors of draft-irtf-cfrg-cpace-21, appendix B.1.
@Suite struct `The key exchange of a pairing` {
    private let password = Array("Password".utf8)
    private let channel = hex("0b415f696e69746961746f720b425f726573706f6e646572")
    private let sid = hex("7e4b4791d6a8ef019b936c79fb7f2c57")

    @Test func `finds the generator of the draft`() throws {
        let string = CPace.generatorString(password, channel, sid)
        #expect(string.count == 170)
        #expect(Array(string.prefix(19)) == hex("0843506163653235350850617373776f72646d"))
        #expect(
            Array(string.suffix(42))
                == hex("180b415f696e69746961746f720b425f726573706f6e646572107e4b4791d6a8ef019b936c79fb7f2c57").suffix(
                    42))
        let generator = try CPace.generator(password: password, channel: channel, sid: sid)
        #expect(generator == hex("d04bf6d41f6a289632a2e929fa29bebd51092512a7829fdde7d314b62f05a73f"))
    }

    @Test func `comes to the shares and the key of the draft`() throws {
        let a = try side("21b4f4bd9e64ed355c3eb676a28ebedaf6d8f17bdc365995b319097153044080")
        let b = try side("848b0779ff415f0af4ea14df9dd1d3c29ac41d836c7808896c4eba19c51ac40a")
        #expect(a.share == hex("1d13c89278cdadd826f6d8d7f887701430f8380ddc17611cdd6dc989ce0c9f32"))
        #expect(b.share == hex("248cccf6d5cdc3646f0ad593f9e6cef4e69d4945f8372e623512ecea32185623"))
        // The draft's key is with associated data, which pairing has none of: what goes into it is compared.
        let secret = hex("5b067effbdc0b2a0e1d907b21ebb25cfedb96a852179a847c37e43ee71322c6b")
        let input = CPace.joined(Array("CPace255_ISK".utf8), sid, secret)
        let withData = input + CPace.joined(a.share, Array("ADa".utf8)) + CPace.joined(b.share, Array("ADb".utf8))
        #expect(
            Array(SHA512.hash(data: withData))
                == hex(
                    "6e19b875f7a561d6b3ca3dbb9ef42ac55de3e717881018204b8922b4d5e53bb2"
                        + "aa82c300bea7b65d2b671da71922ddf6472301b79bc270adfa8bf413285f2263"))
        let key = try a.key(initiator: a.share, responder: b.share, other: b.share)
        #expect(key.isk == Array(SHA512.hash(data: input + CPace.joined(a.share, []) + CPace.joined(b.share, []))))
        #expect(try b.key(initiator: a.share, responder: b.share, other: a.share).isk == key.isk)
    }

    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func `takes no share of low order`(share: String) throws {
        let a = try side("21b4f4bd9e64ed355c3eb676a28ebedaf6d8f17bdc365995b319097153044080")
        #expect(throws: PairingError.wrongCode) {
            try a.key(initiator: a.share, responder: hex(share), other: hex(share))
        }
    }

    private func side(_ scalar: String) throws -> CPace {
        try CPace(
            password: password, channel: channel, sid: sid,
            scalar: Curve25519.KeyAgreement.PrivateKey(rawRepresentation: hex(scalar)))
    }
}

@Suite struct `A number of the curve's field` {
    @Test func `is below the prime when it is written`() throws {
        let samples = [
            ("edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", 0),
            ("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", 1),
            ("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", 18),
            ("0500000000000000000000000000000000000000000000000000000000000080", 5),
        ]
        for (text, value) in samples {
            let number = try #require(CurveField(littleEndian: hex(text)))
            #expect(number.littleEndian == CurveField(UInt64(value)).littleEndian)
        }
        #expect((-CurveField(0)).littleEndian == CurveField(0).littleEndian)
        #expect((-CurveField(1)).littleEndian == hex("ec" + String(repeating: "ff", count: 30) + "7f"))
    }

    @Test func `obeys the laws of a field`() throws {
        var random = RepeatableRandom(seed: 3)
        for _ in 0..<200 {
            let (a, b, c) = (try number(&random), try number(&random), try number(&random))
            #expect((a * (b + c)).littleEndian == (a * b + a * c).littleEndian)
            #expect((a + -a).littleEndian == CurveField(0).littleEndian)
            #expect((a * a.inverse).littleEndian == CurveField(1).littleEndian)
            #expect((a * a).squareMask == .max && (a * a * CurveField(2)).squareMask == 0)
            #expect((-(-a)).littleEndian == a.littleEndian)
        }
        #expect(CurveField(0).squareMask == .max)
    }

    private func number(_ random: inout RepeatableRandom) throws -> CurveField {
        try #require(CurveField(littleEndian: random.bytes(32)))
    }
}

@Suite struct `Two devices that pair` {
    private let a = DeviceIdentifier(ofCertificate: [1])
    private let b = DeviceIdentifier(ofCertificate: [2])
    private let m = DeviceIdentifier(ofCertificate: [3])
    private let code = PairingCode()

    /// Whatever it says: what a terminal acts upon is no name.
    @Test(arguments: [
        "", " x", "a\nb", "\u{1B}[2J", "\u{9B}2J", "\u{7F}", "a\u{202E}b", "\u{200B}", "\u{2028}", "\u{E000}",
        "-rf", "--all",
    ])
    func `are called by their ids where what they call themselves is no name`(text: String) throws {
        #expect(PairingExchange.name(Array(text.utf8), of: a) == PeerName(of: a))
        #expect(PairingExchange.name([0xFF, 0xFE], of: a) == PeerName(of: a))
    }

    @Test func `come to know each other with the same code`() throws {
        let name = try #require(PeerName("phone"))
        let initiator = try PairingInitiator(code, own: a, other: b, trustedAs: .receiver)
        let responder = try PairingResponder(code, initiator.start, own: b, other: a, trustedAs: .sender)
        let proof = try initiator.proof(for: responder.answer, own: name)
        let end = PairingExchange.proofSize
        #expect(Int(proof[end - 1]) == proof.count - end)
        #expect(PairingExchange.name(Array(proof[end...]), of: a) == name)
        let welcome = try responder.welcome(for: Array(proof[..<end]), own: name)
        #expect(welcome == [0, 5] + Array("phone".utf8))
    }

    @Test func `do not with another code`() throws {
        let other = try #require(PairingCode(code.text == "000-000" ? "000-001" : "000-000"))
        let initiator = try PairingInitiator(other, own: a, other: b, trustedAs: .receiver)
        let responder = try PairingResponder(code, initiator.start, own: b, other: a, trustedAs: .sender)
        #expect(throws: PairingError.wrongCode) {
            try initiator.proof(for: responder.answer, own: PeerName(of: a))
        }
        // Nor does a proof of any other run help.
        let again = try PairingInitiator(code, own: a, other: b, trustedAs: .receiver)
        let right = try PairingResponder(code, again.start, own: b, other: a, trustedAs: .sender)
        let proof = try again.proof(for: right.answer, own: PeerName(of: a))
        #expect(throws: PairingError.wrongCode) {
            try responder.welcome(for: Array(proof.prefix(PairingExchange.proofSize)), own: PeerName(of: b))
        }
    }

    @Test(arguments: TrustedPeer.Role.usual)
    func `do not if both would send, or both receive`(role: TrustedPeer.Role) throws {
        let initiator = try PairingInitiator(code, own: a, other: b, trustedAs: role)
        let alike = try PairingResponder(code, initiator.start, own: b, other: a, trustedAs: role)
        #expect(throws: PairingError.wrongCode) { try initiator.proof(for: alike.answer, own: PeerName(of: a)) }
        let other = try PairingResponder(code, initiator.start, own: b, other: a, trustedAs: role.other)
        #expect(throws: Never.self) { try initiator.proof(for: other.answer, own: PeerName(of: a)) }
    }

    /// Somebody in between has one certificate for either side; what they pass on is made for other ones.
    @Test func `do not through somebody who has certificates of their own`() throws {
        let initiator = try PairingInitiator(code, own: a, other: m, trustedAs: .receiver)
        let responder = try PairingResponder(code, initiator.start, own: b, other: m, trustedAs: .sender)
        #expect(throws: PairingError.wrongCode) {
            try initiator.proof(for: responder.answer, own: PeerName(of: a))
        }
        let reflected = try PairingInitiator(code, own: a, other: b, trustedAs: .receiver)
        let mirror = try PairingResponder(code, reflected.start, own: a, other: b, trustedAs: .sender)
        #expect(throws: PairingError.wrongCode) {
            try reflected.proof(for: mirror.answer, own: PeerName(of: a))
        }
    }

    @Test func `do not when any bit is changed on the way`() throws {
        let initiator = try PairingInitiator(code, own: a, other: b, trustedAs: .receiver)
        let good = try PairingResponder(code, initiator.start, own: b, other: a, trustedAs: .sender)
        for bit in stride(from: 0, to: good.answer.count * 8, by: 5) {
            var answer = good.answer
            answer[bit / 8] ^= 1 << UInt8(bit % 8)
            // X25519 does not look at the highest bit of a share; the tag does.
            #expect(throws: PairingError.self) { try initiator.proof(for: answer, own: PeerName(of: a)) }
        }
        for bit in stride(from: 0, to: initiator.start.count * 8, by: 11) {
            var start = initiator.start
            start[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let responder = try? PairingResponder(code, start, own: b, other: a, trustedAs: .sender) else {
                continue
            }
            #expect(throws: PairingError.wrongCode) {
                try initiator.proof(for: responder.answer, own: PeerName(of: a))
            }
        }
    }

    @Test func `have five tries, two minutes, and one of them`() async throws {
        let window = PairingWindow(code, lasting: .seconds(60))
        for _ in 0..<4 { #expect(window.takeTry()?.code == code && window.isOpen) }
        #expect(window.takeTry()?.code == code)
        #expect(!window.isOpen && window.takeTry() == nil)
        #expect(!window.hasPaired && window.close() && !window.close() && window.hasPaired)
        let late = PairingWindow(code, lasting: .zero)
        #expect(!late.isOpen && late.takeTry() == nil)
        #expect(PairingWindow.tries == 5 && PairingWindow.duration == .seconds(120))
    }

    @Test func `is not over while somebody who has begun in time is at it`() async throws {
        let window = PairingWindow(code, lasting: .seconds(60))
        var trial = window.takeTry()
        #expect(trial != nil && window.close())
        let start = ContinuousClock.now
        let waiting = Task {
            await window.waitUntilOver()
            return .now - start
        }
        try await Task.sleep(for: .milliseconds(400))
        trial = nil
        let waited = await waiting.value
        #expect(waited >= .milliseconds(400))
    }

    @Test func `have a code that people can read to each other`() throws {
        #expect(PairingCode("482-913")?.text == "482-913" && PairingCode(" 48 29 13")?.text == "482-913")
        for bad in ["", "48291", "4829130", "48291x", "４８２９１３"] { #expect(PairingCode(bad) == nil) }
        #expect(Set((0..<200).map { _ in PairingCode() }).count > 190)
    }
}

/// The bytes of hexadecimal digits.
func hex(_ text: String) -> [UInt8] {
    stride(from: 0, to: text.utf8.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
}
