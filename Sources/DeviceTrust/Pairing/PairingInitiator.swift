package import Crypto

/// The side that connects; its user has typed the code.
package struct PairingInitiator: Sendable {
    private let cpace: CPace
    package let start: [UInt8]

    /// - Parameters:
    ///   - sid: Only tests give it.
    ///   - scalar: Only tests give it.
    package init(
        _ code: PairingCode, own: DeviceIdentifier, other: DeviceIdentifier, trustedAs role: TrustedPeer.Role,
        sid: [UInt8] = PairingExchange.randomSID(), scalar: Curve25519.KeyAgreement.PrivateKey = .init()
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
