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
    package static func randomSID() -> [UInt8] { (0..<sidSize).map { _ in UInt8.random(in: 0...255) } }

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

    /// CI: which of them sends, and both devices, the initiator first, by their certificates. So an attacker between two links, who shows
    /// other certificates, does not get the same key, and neither do two sides that would both send.
    ///
    /// - Parameter role: What the responder is to be trusted as.
    static func channel(
        _ initiator: DeviceIdentifier, _ responder: DeviceIdentifier, responderAs role: TrustedPeer.Role
    ) -> [UInt8] {
        let purpose =
            switch role {
            case .receiver: "ship-store pairing"
            case .sender, .relay: "ship-store pairing to receive"
            }
        return CPace.joined(Array(purpose.utf8), initiator.bytes, responder.bytes)
    }

    /// Sent instead of an answer or a welcome.
    package static let refusal = [closed] + [UInt8](repeating: 0, count: answerSize - 1)

    static func encode(_ name: PeerName) -> [UInt8] { [UInt8(name.text.utf8.count)] + Array(name.text.utf8) }

    /// The name that a device gives itself, or a name made of its id if that is no `PeerName`, or one that a command takes for an option.
    package static func name(_ bytes: [UInt8], of id: DeviceIdentifier) -> PeerName {
        guard let text = String(validating: bytes, as: UTF8.self), !text.hasPrefix("-") else { return PeerName(of: id) }
        return PeerName(text) ?? PeerName(of: id)
    }
}
