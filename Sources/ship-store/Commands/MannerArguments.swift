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

    var encoding: PartEncoding { plain ? .blocks : .columns }
    var selfCheck: SelfCheck { noSelfCheck ? .off : .on }
}
