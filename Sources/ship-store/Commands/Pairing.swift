import ArgumentParser
import ShipStore

/// How two devices come to trust each other: one shows a code, the other is given it.
enum Pairing: Hashable {
    case showing
    case with(PairingCode)
    /// A text that was given for a code, and is none.
    case invalid(String)

    /// It does not throw: what is no code would count as an argument of its own.
    @Sendable static func read(_ text: String) -> Pairing { PairingCode(text).map(Pairing.with) ?? .invalid(text) }

    /// - Throws: If no code was given, but something else.
    func validate() throws {
        guard case .invalid(let text) = self else { return }
        throw ValidationError(
            "the value '\(text)' is invalid for '--pair <code>': a code has six digits, as in 482-913")
    }
}
