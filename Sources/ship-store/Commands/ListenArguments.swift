import ArgumentParser
import ShipStore
import ShipStoreNetwork

/// How many may connect to a command that listens.
struct ListenArguments: ParsableArguments {
    private static let standard = LinkOptions()

    @Option(
        help: ArgumentHelp(
            """
            Serve this many at a time, half as many of one device; further ones wait until there is a place. \
            (default: \(standard.maximumConnections))
            """, valueName: "count"))
    var maxConnections: Int?

    @Option(
        help: ArgumentHelp(
            """
            Hear this many at a time who are not known yet, also those who are there to pair; for one more the one that has \
            waited longest of the network address with the most is closed. (default: \(standard.maximumHandshakes))
            """, valueName: "count"))
    var maxUnknown: Int?

    private var given: [(option: String, value: Int)] {
        [("--max-connections", maxConnections), ("--max-unknown", maxUnknown)]
            .compactMap { option, value in value.map { (option, $0) } }
    }

    func validate() throws {
        for (option, value) in given where value < 1 { throw ValidationError("\(option) takes a number from 1 on") }
    }

    /// Refuses what says nothing where a command does not listen.
    func validate(isListening: Bool) throws {
        if !isListening, let (option, _) = given.first {
            throw ValidationError("\(option) says something only where the command listens")
        }
    }

    func apply(to link: inout LinkOptions) {
        link.maximumConnections = maxConnections ?? link.maximumConnections
        link.maximumHandshakes = maxUnknown ?? link.maximumHandshakes
    }
}
