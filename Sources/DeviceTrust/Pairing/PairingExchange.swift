import Crypto

/// The messages of a pairing. `PairingInitiator` and `PairingResponder` make and read them.
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

    /// The first byte of an answer and of a welcome: the responder goes on.
    package static let accepted: UInt8 = 0
    /// The first byte of an answer and of a welcome: no pairing window is open, or the code has been tried too often.
    static let closed: UInt8 = 1

    /// CI: both devices, the initiator first, by their certificates. So an attacker between two links, who shows other certificates,
    /// does not get the same key.
    static func channel(_ initiator: DeviceIdentifier, _ responder: DeviceIdentifier) -> [UInt8] {
        CPace.joined(Array("ship-store pairing".utf8), initiator.bytes, responder.bytes)
    }

    /// Sent instead of an answer or a welcome.
    package static let refusal = [closed] + [UInt8](repeating: 0, count: answerSize - 1)

    static func encode(_ name: PeerName) -> [UInt8] { [UInt8(name.text.utf8.count)] + Array(name.text.utf8) }

    /// The name that a device gives itself, or a name made of its id if that is no `PeerName`.
    package static func name(_ bytes: [UInt8], of id: DeviceIdentifier) -> PeerName {
        PeerName(String(decoding: bytes, as: UTF8.self)) ?? PeerName(of: id)
    }
}

/// Why two devices have not paired.
public enum PairingError: Error, Hashable, Sendable {
    /// The two sides do not have the same code, or an attacker is between them.
    case wrongCode
    /// The other side has no pairing window open, or no longer.
    case notOpen
    /// The other side does not follow `Protocol/PAIRING.md`.
    case badMessage
    /// No device paired in time, or the code was tried too often.
    case over
}

/// The side that connects; its user has typed the code.
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
    ///   - sid: Random; tests give it.
    ///   - scalar: Random; tests give it.
    init(
        _ code: PairingCode, own: DeviceIdentifier, other: DeviceIdentifier, sid: [UInt8],
        scalar: Curve25519.KeyAgreement.PrivateKey
    ) throws(PairingError) {
        let channel = PairingExchange.channel(own, other)
        cpace = try CPace(password: code.bytes, channel: channel, sid: sid, scalar: scalar)
        start = PairingExchange.magic + [PairingExchange.version] + sid + cpace.share
    }

    /// - Parameter answer: The complete message.
    /// - Returns: The proof to send. The other side has the code.
    package func proof(for answer: [UInt8], own name: PeerName) throws(PairingError) -> [UInt8] {
        guard answer.count == PairingExchange.answerSize else { throw .badMessage }
        switch answer[0] {
        case PairingExchange.accepted: break
        case PairingExchange.closed: throw .notOpen
        default: throw .badMessage
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
    /// Sent only after the try has been counted, because it tells the other side whether its guess was right.
    package let answer: [UInt8]

    /// - Parameter start: The complete message.
    package init(
        _ code: PairingCode, _ start: [UInt8], own: DeviceIdentifier, other: DeviceIdentifier
    ) throws(PairingError) {
        try self.init(code, start, own: own, other: other, scalar: .init())
    }

    /// - Parameter scalar: Random; tests give it.
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
        answer = [PairingExchange.accepted] + cpace.share + key.tag(of: cpace.share)
    }

    /// - Parameter proof: Without the name.
    /// - Returns: The welcome to send. The other side has the code.
    package func welcome(
        for proof: [UInt8], own name: PeerName
    ) throws(PairingError) -> [UInt8] {
        guard key.isTag(Array(proof.prefix(CPace.tagSize)), of: otherShare) else { throw .wrongCode }
        return [PairingExchange.accepted] + PairingExchange.encode(name)
    }
}
