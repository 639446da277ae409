import ArgumentParser
import ShipStore
import ShipStoreNetwork

/// How many may connect to a command that listens.
struct ListenArguments: ParsableArguments {
    private static let standard = LinkOptions()

    @Option(
        help: ArgumentHelp(
            "Serve this many at a time, half as many of one device; further ones wait until there is a place.",
            valueName: "count"))
    var maxConnections = standard.maximumConnections

    @Option(
        help: ArgumentHelp(
            """
            Hear this many at a time who are not known yet, also those who are there to pair; for one more the one that has \
            waited longest is closed.
            """, valueName: "count"))
    var maxUnknown = standard.maximumHandshakes

    @Option(
        help: ArgumentHelp("Of those, this many from one network address.", valueName: "count"))
    var maxUnknownPerAddress = standard.maximumHandshakesPerAddress

    func validate() throws {
        for (option, value) in [
            ("--max-connections", maxConnections), ("--max-unknown", maxUnknown),
            ("--max-unknown-per-address", maxUnknownPerAddress),
        ] where value < 1 { throw ValidationError("\(option) takes a number from 1 on") }
    }

    func apply(to link: inout LinkOptions) {
        link.maximumConnections = maxConnections
        link.maximumHandshakes = maxUnknown
        link.maximumHandshakesPerAddress = maxUnknownPerAddress
    }
}

/// How two devices come to trust each other: one shows a code, the other is given it.
enum Pairing: Hashable {
    case showing
    case with(PairingCode)
    /// What was given for a code, and is none.
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
