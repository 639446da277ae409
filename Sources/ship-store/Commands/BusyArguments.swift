import ArgumentParser
import ShipStore

/// How a command gets on with others who use the store.
struct BusyArguments: ParsableArguments {
    static let standardBusyTimeout = Seconds(10)

    @Option(
        help: ArgumentHelp(
            "Wait this many seconds for other programs that use the store. (default: \(standardBusyTimeout))",
            valueName: "seconds"),
        transform: Seconds.read)
    var busyTimeout: Seconds = standardBusyTimeout
}
