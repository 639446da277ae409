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
