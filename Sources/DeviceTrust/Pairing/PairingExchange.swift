import Crypto

/// The messages of a pairing, and what each side makes of them.
///
///     initiator                                              responder
///         start: magic, version, sid, Ya        ->
///                                               <-    answer: status, Yb, Tb
///         proof: Ta, name                       ->
///                                               <-    welcome: status, name
///
/// Source: `Protocol/PAIRING.md`.
package enum PairingExchange {
    /// `\x89PAIR\r\n\x1A`: no shipment begins with it.
    package static let magic: [UInt8] = [0x89, 0x50, 0x41, 0x49, 0x52, 0x0D, 0x0A, 0x1A]
    static let version: UInt8 = 1
    static let sidSize = 16  // bytes

    /// In bytes.
    package static let startSize = magic.count + 1 + sidSize + CPace.shareSize
    package static let answerSize = 1 + CPace.shareSize + CPace.tagSize
    /// Without the name, whose length is the last byte.
    package static let proofSize = CPace.tagSize + 1
    package static let welcomeSize = 2

    /// The first byte of an answer and of a welcome.
    enum Status: UInt8 {
        case goOn = 0
        /// No code is waited for here, or it has been tried too often.
        case closed = 1
    }

    /// CI: both devices, the initiator first, by their certificates. Whoever stands between two links with a certificate of
    /// their own has another one on each of them.
    static func channel(_ initiator: DeviceIdentifier, _ responder: DeviceIdentifier) -> [UInt8] {
        CPace.joined(Array("ship-store pairing".utf8), initiator.bytes, responder.bytes)
    }

    /// What is said instead of an answer or a welcome.
    package static let refusal = [Status.closed.rawValue] + [UInt8](repeating: 0, count: answerSize - 1)

    static func encode(_ name: PeerName) -> [UInt8] { [UInt8(name.text.utf8.count)] + Array(name.text.utf8) }

    /// What a device calls itself, or another name where that is none.
    package static func name(_ bytes: [UInt8], of id: DeviceIdentifier) -> PeerName {
        PeerName(String(decoding: bytes, as: UTF8.self)) ?? PeerName(of: id)
    }
}

/// Why no pairing came about.
public enum PairingError: Error, Hashable, Sendable {
    /// The two sides do not have the same code, or somebody stands between them.
    case wrongCode
    /// The other side waits for no code, or for no more.
    case notOpen
    /// The other side speaks another language.
    case badMessage
    /// Nobody paired in time, or the code was tried too often.
    case over
}

/// The side that connects, and has been told the code.
package struct PairingInitiator: Sendable {
    private let cpace: CPace
    package let start: [UInt8]

    package init(
        _ code: PairingCode, own: DeviceIdentifier, other: DeviceIdentifier
    ) throws(PairingError) {
        let sid = (0..<PairingExchange.sidSize).map { _ in UInt8.random(in: 0...255) }
        try self.init(code, own: own, other: other, sid: sid, scalar: .init())
    }

    /// - Parameters:
    ///   - sid: What is random, given for tests.
    ///   - scalar: Likewise.
    init(
        _ code: PairingCode, own: DeviceIdentifier, other: DeviceIdentifier, sid: [UInt8],
        scalar: Curve25519.KeyAgreement.PrivateKey
    ) throws(PairingError) {
        let channel = PairingExchange.channel(own, other)
        cpace = try CPace(password: code.bytes, channel: channel, sid: sid, scalar: scalar)
        start = PairingExchange.magic + [PairingExchange.version] + sid + cpace.share
    }

    /// - Parameter answer: All of it.
    /// - Returns: The proof to send. The other side has the code.
    package func proof(for answer: [UInt8], own name: PeerName) throws(PairingError) -> [UInt8] {
        guard answer.count == PairingExchange.answerSize else { throw .badMessage }
        switch PairingExchange.Status(rawValue: answer[0]) {
        case .closed: throw .notOpen
        case nil: throw .badMessage
        case .goOn: break
        }
        let share = Array(answer[1...CPace.shareSize])
        let key = try cpace.key(initiator: cpace.share, responder: share, other: share)
        guard key.isTag(Array(answer[(1 + CPace.shareSize)...]), of: share) else { throw .wrongCode }
        return key.tag(of: cpace.share) + PairingExchange.encode(name)
    }
}

/// The side that listens, and shows the code.
package struct PairingResponder: Sendable {
    private let key: CPace.SessionKey
    private let otherShare: [UInt8]
    /// To be sent only after a try has been counted: from it the other side knows whether it had guessed right.
    package let answer: [UInt8]

    /// - Parameter start: All of it.
    package init(
        _ code: PairingCode, _ start: [UInt8], own: DeviceIdentifier, other: DeviceIdentifier
    ) throws(PairingError) {
        try self.init(code, start, own: own, other: other, scalar: .init())
    }

    /// - Parameter scalar: What is random, given for tests.
    init(
        _ code: PairingCode, _ start: [UInt8], own: DeviceIdentifier, other: DeviceIdentifier,
        scalar: Curve25519.KeyAgreement.PrivateKey
    ) throws(PairingError) {
        guard start.count == PairingExchange.startSize, start.starts(with: PairingExchange.magic),
            start[PairingExchange.magic.count] == PairingExchange.version
        else { throw .badMessage }
        let rest = start.dropFirst(PairingExchange.magic.count + 1)
        let sid = Array(rest.prefix(PairingExchange.sidSize))
        otherShare = Array(rest.dropFirst(PairingExchange.sidSize))
        let channel = PairingExchange.channel(other, own)
        let cpace = try CPace(password: code.bytes, channel: channel, sid: sid, scalar: scalar)
        key = try cpace.key(initiator: otherShare, responder: cpace.share, other: otherShare)
        answer = [PairingExchange.Status.goOn.rawValue] + cpace.share + key.tag(of: cpace.share)
    }

    /// - Parameter proof: Without the name.
    /// - Returns: The welcome to send. The other side has the code.
    package func welcome(
        for proof: [UInt8], own name: PeerName
    ) throws(PairingError) -> [UInt8] {
        guard key.isTag(Array(proof.prefix(CPace.tagSize)), of: otherShare) else { throw .wrongCode }
        return [PairingExchange.Status.goOn.rawValue] + PairingExchange.encode(name)
    }
}
