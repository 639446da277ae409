import Crypto

/// The side that connects; its user has typed the code.
package struct PairingInitiator: Sendable {
    private let cpace: CPace
    package let start: [UInt8]

    package init(
        _ code: PairingCode, own: DeviceIdentifier, other: DeviceIdentifier, trustedAs role: TrustedPeer.Role
    ) throws(PairingError) {
        let sid = (0..<PairingExchange.sidSize).map { _ in UInt8.random(in: 0...255) }
        try self.init(code, own: own, other: other, trustedAs: role, sid: sid, scalar: .init())
    }

    /// - Parameters:
    ///   - sid: Random; tests give it.
    ///   - scalar: Random; tests give it.
    init(
        _ code: PairingCode, own: DeviceIdentifier, other: DeviceIdentifier, trustedAs role: TrustedPeer.Role,
        sid: [UInt8], scalar: Curve25519.KeyAgreement.PrivateKey
    ) throws(PairingError) {
        let channel = PairingExchange.channel(own, other, responderAs: role)
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
