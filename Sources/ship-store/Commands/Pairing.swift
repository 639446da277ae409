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

    /// Refuses what makes no sense of `--pair`, and of what goes with it.
    ///
    /// - Parameters:
    ///   - pair: What was said.
    ///   - endpoint: Where this side connects to, or listens.
    static func validate(
        _ pair: Pairing?, _ link: LinkArguments, _ output: OutputOptions, over endpoint: Endpoint?, isListening: Bool
    ) throws {
        if link.peerName != nil, pair == nil { throw ValidationError("--peer-name says something only with --pair") }
        guard let pair else { return }
        if case .invalid(let text) = pair {
            throw ValidationError(
                "the value '\(text)' is invalid for '--pair <code>': a code has six digits, as in 482-913")
        }
        if link.insecure { throw ValidationError("--pair and --insecure exclude each other") }
        guard case .tcp = endpoint else { throw ValidationError("--pair goes over TCP only") }
        guard isListening == (pair == .showing) else {
            throw ValidationError(
                isListening
                    ? "who listens shows a code: --pair takes none" : "--pair needs the code that the other side shows")
        }
        if pair == .showing, output.isSilent {
            throw ValidationError("--pair and --quiet exclude each other: the code has to be seen, or --json tells it")
        }
    }
}
