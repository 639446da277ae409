import ArgumentParser
import ShipStore

/// How a shipment is made small.
struct MannerArguments: ParsableArguments {
    @Option(
        help: """
            The effort of compression, from 1 to 9, the smallest; below 6 hardly any time is saved. auto follows the \
            link. (default: \(LevelArgument.auto))
            """,
        transform: LevelArgument.read)
    var level: LevelArgument = .auto

    @Flag(help: "Send the store's pages as they are, compressed, and not its rows.")
    var plain = false

    @Flag(help: "Do not decode what is encoded before counting on it: the receiver alone finds what is wrong.")
    var noSelfCheck = false

    @Flag(
        help: """
            Round what is sent up to steps of 4,096 bytes, so that whoever sees how much goes over the line, and can write rows \
            into the store, learns less of what else is in it.
            """)
    var pad = false

    var encoding: PartEncoding { plain ? .blocks : .columns }
    var selfCheck: SelfCheck { noSelfCheck ? .off : .on }
}
