package import Crypto

/// The side that listens, and shows the code.
package struct PairingResponder: Sendable {
    private let key: CPace.SessionKey
    private let otherShare: [UInt8]
    /// Sent only after the try has been counted, because it tells the other side whether its guess was right.
    package let answer: [UInt8]

    /// - Parameters:
    ///   - start: The complete message.
    ///   - scalar: Only tests give it.
    package init(
        _ code: PairingCode, _ start: [UInt8], own: DeviceIdentifier, other: DeviceIdentifier,
        trustedAs role: TrustedPeer.Role, scalar: Curve25519.KeyAgreement.PrivateKey = .init()
    ) throws(PairingError) {
        guard start.count == PairingExchange.startSize, start.starts(with: PairingExchange.magic),
            start[PairingExchange.magic.count] == PairingExchange.version
        else { throw .badMessage }
        let rest = start.dropFirst(PairingExchange.magic.count + 1)
        let sid = Array(rest.prefix(PairingExchange.sidSize))
        otherShare = Array(rest.dropFirst(PairingExchange.sidSize))
        let channel = PairingExchange.channel(other, own, responderAs: role.other)
        let cpace = try CPace(password: code.bytes, channel: channel, sid: sid, scalar: scalar)
        key = try cpace.key(initiator: otherShare, responder: cpace.share, other: otherShare)
        answer = [PairingExchange.accepted] + cpace.share + key.tag(of: cpace.share)
    }

    /// - Parameter proof: Without the name.
    /// - Returns: The welcome to send. The other side has the code.
    package func welcome(for proof: [UInt8], own name: PeerName) throws(PairingError) -> [UInt8] {
        guard key.isTag(Array(proof.prefix(CPace.tagSize)), of: otherShare) else { throw .wrongCode }
        return [PairingExchange.accepted] + PairingExchange.encode(name)
    }
}
