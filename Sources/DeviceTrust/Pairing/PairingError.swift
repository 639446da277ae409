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
