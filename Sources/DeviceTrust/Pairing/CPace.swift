import Crypto

/// CPace with X25519 and SHA-512: two sides that share a short code agree on a long key. An attacker can test one guess of the code a
/// run, and learns nothing else, however long they compute afterwards.
///
/// It is written by hand, over swift-crypto's X25519, because swift-crypto has no CPace.
///
/// Source: draft-irtf-cfrg-cpace-21, CPACE-X25519-SHA512; its sections are cited below. The names are the draft's.
struct CPace: Sendable {
    static let shareSize = 32  // bytes
    static let tagSize = 64  // bytes

    private static let domain = Array("CPace255".utf8)
    /// Of SHA-512, in bytes.
    private static let blockSize = 128

    private let sid: [UInt8]
    private let scalar: Curve25519.KeyAgreement.PrivateKey
    /// Sent to the other side: Ya or Yb.
    let share: [UInt8]

    /// - Parameters:
    ///   - password: PRS.
    ///   - channel: CI: facts of the link on which both sides must agree.
    ///   - sid: Identifies this run.
    ///   - scalar: New for each run.
    init(
        password: [UInt8], channel: [UInt8], sid: [UInt8], scalar: Curve25519.KeyAgreement.PrivateKey
    ) throws(PairingError) {
        self.sid = sid
        self.scalar = scalar
        let generator = try Self.generator(password: password, channel: channel, sid: sid)
        share = try Self.product(scalar, generator)
    }

    /// The key, once the other side's share has come [section 7.2]; ISK.
    ///
    /// - Parameters:
    ///   - initiator: Ya.
    ///   - responder: Yb.
    ///   - other: The share of the other side, one of the two.
    func key(initiator: [UInt8], responder: [UInt8], other: [UInt8]) throws(PairingError) -> SessionKey {
        let secret = try Self.product(scalar, other)
        let transcript = Self.joined(initiator, []) + Self.joined(responder, [])
        let input = Self.joined(Self.domain + Array("_ISK".utf8), sid, secret) + transcript
        return SessionKey(isk: Array(SHA512.hash(data: input)), sid: sid)
    }

    /// X25519 [RFC 7748 section 5].
    ///
    /// - Throws: `.wrongCode` if the result is the neutral element, which only a malicious share gives.
    private static func product(
        _ scalar: Curve25519.KeyAgreement.PrivateKey, _ point: [UInt8]
    ) throws(PairingError) -> [UInt8] {
        guard let point = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: point),
            let product = try? scalar.sharedSecretFromKeyAgreement(with: point)
        else { throw .wrongCode }
        let bytes = product.withUnsafeBytes(Array.init)
        guard bytes.contains(where: { $0 != 0 }) else { throw .wrongCode }
        return bytes
    }

    // MARK: Generator

    /// Section 8.2, with Elligator 2 [RFC 9380 section 6.7.1].
    static func generator(password: [UInt8], channel: [UInt8], sid: [UInt8]) throws(PairingError) -> [UInt8] {
        let hash = Array(SHA512.hash(data: generatorString(password, channel, sid)).prefix(32))
        guard let u = CurveField(littleEndian: hash) else { throw .wrongCode }
        let j = CurveField(486_662)
        let x1 = -(j * (CurveField(1) + CurveField(2) * u * u).inverse)
        let isOnCurve = (x1 * (x1 * (x1 + j) + CurveField(1))).squareMask
        return CurveField.choose(x1, -(x1 + j), isOnCurve).littleEndian
    }

    /// Section 8.1.
    static func generatorString(_ password: [UInt8], _ channel: [UInt8], _ sid: [UInt8]) -> [UInt8] {
        let zeros = max(0, blockSize - 1 - joined(password).count - joined(domain).count)
        return joined(domain, password, [UInt8](repeating: 0, count: zeros), channel, sid)
    }

    /// `lv_cat`: each part after its length, as LEB128 [section 6.3].
    static func joined(_ parts: [UInt8]...) -> [UInt8] {
        parts.flatMap { part in
            var (length, bytes) = (part.count, [UInt8]())
            repeat {
                bytes.append(UInt8(length & 127) | (length > 127 ? 128 : 0))
                length >>= 7
            } while length > 0
            return bytes + part
        }
    }

    /// The key of both sides, the same if they have the same code.
    struct SessionKey: Sendable {
        let isk: [UInt8]
        private let confirmation: SymmetricKey

        init(isk: [UInt8], sid: [UInt8]) {
            self.isk = isk
            confirmation = SymmetricKey(data: SHA512.hash(data: Array("CPaceMac".utf8) + sid + isk))
        }

        /// Proves that the side that sent this share has the key [section 10.4]; Ta or Tb.
        func tag(of share: [UInt8]) -> [UInt8] {
            Array(HMAC<SHA512>.authenticationCode(for: CPace.joined(share, []), using: confirmation))
        }

        func isTag(_ tag: [UInt8], of share: [UInt8]) -> Bool {
            HMAC<SHA512>.isValidAuthenticationCode(tag, authenticating: CPace.joined(share, []), using: confirmation)
        }
    }
}
